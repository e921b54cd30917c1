import Logging
import Schemas

extension Message {
    /// Logs the state of a message.
    func reportState(to logger: Logger) {
        let errors = relay.components.compactMap { record in
            record.error.map { "\(record.component.rawValue): \($0.code) \($0.message)" }
        }
        switch relay.state {
        case .relayed: logger.info("relayed", metadata: ["attempts": "\(relay.attempts)"])
        case .failed, .expired:
            logger.error("\(relay.state.rawValue)", metadata: ["errors": "\(errors.joined(separator: "; "))"])
        case .retrying where !errors.isEmpty:
            logger.warning("will be tried again", metadata: ["errors": "\(errors.joined(separator: "; "))"])
        case .retrying, .pending, .recalled: break
        }
    }
}
