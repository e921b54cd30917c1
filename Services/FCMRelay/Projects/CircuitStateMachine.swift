import ServiceKit
import Time

/// The state of a project's circuit breaker. Pure: events in, decisions out.
///
/// After many failures in a row nothing is sent for a pause, and then a single probe. Without this, while FCM hangs, every send
/// would occupy a stream, and one of the project's commands, until its timeout.
struct CircuitStateMachine: Sendable {
    /// Whether a send may go out.
    enum Admission: Hashable, Sendable {
        case go
        /// It goes out, as the only one: it is the probe.
        case probe
        /// Nothing is sent for this time.
        case wait(Duration)
    }

    private enum State {
        case closed(failures: Int)
        /// Nothing is sent before `until`.
        case open(until: ContinuousClock.Instant)
        /// A probe is pending. Without an answer by `until` another one goes.
        case probing(until: ContinuousClock.Instant)
    }

    /// This many failures in a row open the circuit.
    private static let maxFailures = 20

    private var state = State.closed(failures: 0)
    /// The maximum is short, because an urgent message may be waiting.
    private var backoff = Backoff(first: .seconds(1), max: .seconds(8))

    /// Decides about a send.
    mutating func admit(at now: ContinuousClock.Instant) -> Admission {
        switch state {
        case .closed: return .go
        case .open(let until), .probing(let until):
            guard until <= now else { return .wait(until - now) }
            state = .probing(until: now + DeliveryTimes.circuitProbeTimeout)
            return .probe
        }
    }

    /// Whether sends are refused.
    func isOpen(at now: ContinuousClock.Instant) -> Bool {
        switch state {
        case .closed: false
        case .open(let until), .probing(let until): now < until
        }
    }

    /// A send ended before FCM could answer.
    mutating func learnedNothing(at now: ContinuousClock.Instant) {
        if case .probing = state { state = .open(until: now) }
    }

    /// FCM has answered, with success or an error.
    mutating func answered() {
        state = .closed(failures: 0)
        backoff.succeeded()
    }

    /// FCM or the connection to it has failed.
    mutating func failed(at now: ContinuousClock.Instant) {
        switch state {
        case .closed(let failures) where failures + 1 < Self.maxFailures:
            state = .closed(failures: failures + 1)
        case .closed, .probing:
            state = .open(until: now + backoff.failed())
        case .open:
            // A send that went out before the circuit opened.
            break
        }
    }
}
