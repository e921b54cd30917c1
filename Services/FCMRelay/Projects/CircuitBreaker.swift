import Schemas
import Synchronization

/// Keeps sends from an FCM that does not answer.
final class CircuitBreaker: Sendable {
    private let machine = Mutex(CircuitStateMachine())

    /// - Returns: `nil` where a send may go out; otherwise why it does not: a retryable error.
    func refusal() -> ComponentError? {
        machine.withLock { $0.admit(at: .now) }.map { pause in
            ComponentError(
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
