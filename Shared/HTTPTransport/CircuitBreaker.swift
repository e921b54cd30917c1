import Base
package import Schemas
import Synchronization

/// Stops sends while a server does not answer, and knows the last error.
package final class CircuitBreaker: Sendable {
    private struct State {
        var machine: CircuitStateMachine
        var outage: Outage?
    }

    private let problem: String
    private let state: Mutex<State>

    /// - Parameters:
    ///   - problem: Why sends are refused, without the last error, such as "FCM has failed many times in a row".
    ///   - maxFailures: This many failures in a row open the circuit.
    ///   - probeTimeout: The wait for a probe's outcome, after which there is another one. It is longer than a request can take.
    package init(problem: String, maxFailures: Int = 20, probeTimeout: Duration) {
        self.problem = problem
        state = Mutex(State(machine: CircuitStateMachine(maxFailures: maxFailures, probeTimeout: probeTimeout)))
    }

    /// - Parameter beforeProbe: Called if this send is the probe that finds out whether the server answers again.
    /// - Returns: `nil` if the send may go out; otherwise a retryable error.
    package func refusal(beforeProbe: () -> Void) -> DeliveryError? {
        let (admission, outage) = state.withLock { ($0.machine.admit(at: .now), $0.outage) }
        switch admission {
        case .go: return nil
        case .probe:
            beforeProbe()
            return nil
        case .wait(let pause): return openError(outage, pause: pause)
        }
    }

    /// The error of a send that would be refused now; `nil` if it would not be.
    package var error: DeliveryError? {
        let (pause, outage) = state.withLock { ($0.machine.pause(at: .now), $0.outage) }
        return pause.map { openError(outage, pause: $0) }
    }

    /// Whether no send is refused, and none would be the probe.
    package var isClosed: Bool { state.withLock(\.machine.isClosed) }

    /// Why a send would be refused now, in one sentence; `nil` if it would not be.
    package var openReason: String? {
        let (isOpen, outage) = state.withLock { ($0.machine.isOpen(at: .now), $0.outage) }
        return isOpen ? reason(outage) : nil
    }

    /// The outage of the server or of the connection to it; `nil` if it answered last, or there was no request for a long time.
    package var outage: Outage? {
        state.withLock { state in state.outage.flatMap { $0.isRecent ? $0 : nil } }
    }

    private func openError(_ outage: Outage?, pause: Duration) -> DeliveryError {
        DeliveryError(.circuitOpen, reason(outage), retryAfter: max(1, Milliseconds(pause)))
    }

    private func reason(_ outage: Outage?) -> String {
        problem + (outage.map { ", lastly with \($0.code): \($0.message)" } ?? "")
    }

    /// The server or the connection to it has failed.
    package func failed(_ error: DeliveryError) {
        state.withLock { state in
            state.machine.failed(at: .now)
            state.outage = Outage(error, after: state.outage)
        }
    }

    /// The server has answered, with success or an error.
    package func answered() {
        state.withLock { state in
            state.machine.answered()
            state.outage = nil
        }
    }

    /// A send ended before the server could answer.
    package func learnedNothing() {
        state.withLock { $0.machine.learnedNothing(at: .now) }
    }
}
