import Schemas
import Synchronization

/// Keeps sends from an FCM that does not answer, and knows what is wrong with it.
final class CircuitBreaker: Sendable {
    private struct State {
        var machine = CircuitStateMachine()
        var outage: Outage?
    }

    private let state = Mutex(State())

    /// - Parameter beforeTrial: Called if the send is the one that finds out whether FCM answers again.
    /// - Returns: `nil` where a send may go out; otherwise why it does not: a retryable error.
    func refusal(beforeTrial: () -> Void) -> ComponentError? {
        let (admission, outage) = state.withLock { ($0.machine.admit(at: .now), $0.outage) }
        switch admission {
        case .go: return nil
        case .trial:
            beforeTrial()
            return nil
        case .wait(let pause):
            return ComponentError(
                class: .retryable, code: "CIRCUIT_OPEN", message: Self.problem(outage), retryAfter: max(1, pause.milliseconds))
        }
    }

    /// Why a send would be refused now, in one sentence; `nil` where it would not be.
    var openReason: String? {
        state.withLock { $0.machine.isOpen(at: .now) ? Self.problem($0.outage) : nil }
    }

    /// What is wrong with FCM, or the way to it; `nil` where it answered last, or has not been asked for long.
    var outage: Outage? {
        state.withLock { state in state.outage.flatMap { $0.isRecent ? $0 : nil } }
    }

    private static func problem(_ outage: Outage?) -> String {
        "FCM has failed for the project many times in a row" + (outage.map { ", lastly with \($0.code): \($0.message)" } ?? "")
    }

    /// Takes note of what became of a send that went out.
    func learn(from failure: SendFailure?) {
        state.withLock { state in
            switch failure?.scope {
            case .service:
                state.machine.failed(at: .now)
                if let error = failure?.error { state.outage = Outage(error, after: state.outage) }
            case .nobody: state.machine.learnedNothing(at: .now)
            case .message, .topic, .project, nil:
                state.machine.answered()
                state.outage = nil
            }
        }
    }
}
