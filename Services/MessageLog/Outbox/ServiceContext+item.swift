import CommandBus
import MessageStorage
import Schemas
import ServiceContextModule
import ServiceKit

extension ServiceContext {
    /// The trace of the command that logs an item, as it is stored with the item. Every later attempt belongs to it, hours later and
    /// after a restart as well. A command without a trace begins one.
    static var traceparentToStore: String { (current?.traceparent ?? Traceparent()).description }

    /// Adds the item that the task works on to the task's log lines.
    mutating func name(_ key: OutboxKey) {
        switch key {
        case .message(let msiKey): self.msiKey = msiKey.description
        case .push(let id): pushID = id.description
        }
    }
}
