import Archive
import Bus
import Logging
import Schemas
import ServiceContextModule
import ServiceKit

extension OutboxItem {
    /// The maximum number of errors that are named: most of a push's recipients have the same.
    private static let maxErrors = 3

    /// Logs the state of a message or a push.
    func reportState(to logger: Logger) {
        switch record.state {
        case .relayed: logger.debug("relayed", metadata: ["attempts": "\(record.attempts)"])
        // On some of a block's 500 browsers the app is gone, nearly always.
        case .failed where lacksOnlyGoneDevices: logger.debug("relayed, except to devices that are gone")
        case .failed, .expired:
            logger.error("\(record.state.rawValue)", metadata: ["errors": "\(errors.joined(separator: "; "))"])
        case .retrying:
            let errors = errors
            guard !errors.isEmpty else { return }
            logger.warning("will be tried again", metadata: ["errors": "\(errors.joined(separator: "; "))"])
        case .held, .pending, .recalled: break
        }
    }

    /// Whether a block of Web Push, or a push to persons, has failed only for devices whose apps are gone.
    private var lacksOnlyGoneDevices: Bool {
        guard let push, push.transport == .webpush else { return false }
        return push.relay.recipients.allSatisfy { $0.state == .accepted || $0.isGone }
    }

    /// The errors of the parts. They name no token.
    private var errors: [String] {
        switch self {
        case .message(let message):
            return message.relay.components.compactMap { part in
                part.error.map { "\(part.component.rawValue): \($0.code) \($0.message)" }
            }
        case .push(let push):
            let errors = push.relay.recipients.compactMap(\.error)
            let named = errors.prefix(Self.maxErrors).map { "\($0.code) \($0.message)" }
            return errors.count > named.count ? named + ["\(errors.count - named.count) more"] : named
        }
    }
}

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
