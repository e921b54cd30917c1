import Schemas
import Synchronization
import Time

/// Stops sends while FCM does not answer, and knows the last error.
final class CircuitBreaker: Sendable {
    private struct State {
        var machine = CircuitStateMachine()
        var outage: Outage?
    }

    private let state = Mutex(State())

    /// - Parameter beforeProbe: Called if this send is the probe that finds out whether FCM answers again.
    /// - Returns: `nil` if the send may go out; otherwise a retryable error.
    func refusal(beforeProbe: () -> Void) -> DeliveryError? {
        let (admission, outage) = state.withLock { ($0.machine.admit(at: .now), $0.outage) }
        switch admission {
        case .go: return nil
        case .probe:
            beforeProbe()
            return nil
        case .wait(let pause):
            return DeliveryError(.circuitOpen, Self.problem(outage), retryAfter: max(1, Milliseconds(pause)))
        }
    }

    /// Why a send would be refused now, in one sentence; `nil` if it would not be.
    var openReason: String? {
        state.withLock { $0.machine.isOpen(at: .now) ? Self.problem($0.outage) : nil }
    }

    /// The outage of FCM or of the connection to it; `nil` if FCM answered last, or there was no request for a long time.
    var outage: Outage? {
        state.withLock { state in state.outage.flatMap { $0.isRecent ? $0 : nil } }
    }

    private static func problem(_ outage: Outage?) -> String {
        "FCM has failed for the project many times in a row" + (outage.map { ", lastly with \($0.code): \($0.message)" } ?? "")
    }

    /// Notes the outcome of a send.
    func learn(from failure: SendFailure?) {
        state.withLock { state in
            switch failure?.scope {
            case .service:
                state.machine.failed(at: .now)
                if let error = failure?.error { state.outage = Outage(error, after: state.outage) }
            case .inconclusive: state.machine.learnedNothing(at: .now)
            case .message, .topic, .project, nil:
                state.machine.answered()
                state.outage = nil
            }
        }
    }
}
