import MessageStorage
import Schemas
import ServiceContextModule
import ServiceKit

extension ServiceContext {
    /// Adds the item that the task works on to the task's log lines.
    mutating func name(_ key: OutboxKey) {
        switch key {
        case .message(let msiKey): self.msiKey = msiKey.description
        case .push(let id): pushID = id.description
        }
    }
}
