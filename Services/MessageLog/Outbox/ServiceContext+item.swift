import MessageStorage
import Schemas
import ServiceContextModule
import ServiceKit

extension ServiceContext {
    /// Names what the task is at work on in its log lines.
    mutating func name(_ key: OutboxKey) {
        switch key {
        case .message(let msiKey): self.msiKey = msiKey.description
        case .push(let id): pushID = id.description
        }
    }
}
