import Logging
import MessageStorage
import Schemas

extension OutboxItem {
    /// The maximum number of errors that are named: most of a push's recipients have the same.
    private static let maxErrors = 3

    /// Logs the state of a message or a push.
    func reportState(to logger: Logger) {
        let errors = errors
        switch record.state {
        case .relayed: logger.info("relayed", metadata: ["attempts": "\(record.attempts)"])
        case .failed, .expired:
            logger.error("\(record.state.rawValue)", metadata: ["errors": "\(errors.joined(separator: "; "))"])
        case .retrying where !errors.isEmpty:
            logger.warning("will be tried again", metadata: ["errors": "\(errors.joined(separator: "; "))"])
        case .held, .retrying, .pending, .recalled: break
        }
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
