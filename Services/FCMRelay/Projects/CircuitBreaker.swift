import Schemas
import Synchronization

/// Keeps sends from an FCM that does not answer.
final class CircuitBreaker: Sendable {
    private let machine = Mutex(CircuitStateMachine())

    /// - Parameter beforeTrial: Called if the send is the one that finds out whether FCM answers again.
    /// - Returns: `nil` where a send may go out; otherwise why it does not: a retryable error.
    func refusal(beforeTrial: () -> Void) -> ComponentError? {
        switch machine.withLock({ $0.admit(at: .now) }) {
        case .go: return nil
        case .trial:
            beforeTrial()
            return nil
        case .wait(let pause):
            return ComponentError(
                class: .retryable, code: "CIRCUIT_OPEN", message: "FCM has failed for the project many times in a row",
                retryAfter: max(1, pause.milliseconds))
        }
    }

    /// Takes note of what became of a send that went out.
    func learn(from failure: SendFailure?) {
        machine.withLock { machine in
            switch failure?.scope {
            case .service: machine.failed(at: .now)
            case .nobody: machine.learnedNothing(at: .now)
            case .message, .topic, .project, nil: machine.answered()
            }
        }
    }
}
