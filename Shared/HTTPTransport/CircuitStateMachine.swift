import Base

/// The state of a circuit breaker. Pure: events in, decisions out.
///
/// After many failures in a row nothing is sent for a pause, and then a single probe. Without this, while the server hangs,
/// every send would occupy a stream, and its command, until its timeout.
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
    private let maxFailures: Int
    /// The wait for a probe's outcome.
    private let probeTimeout: Duration
    private var state = State.closed(failures: 0)
    /// The maximum is short, because an urgent message may be waiting.
    private var backoff = Backoff(first: .seconds(1), max: .seconds(8))

    init(maxFailures: Int = 20, probeTimeout: Duration) {
        self.maxFailures = maxFailures
        self.probeTimeout = probeTimeout
    }

    /// Decides about a send.
    mutating func admit(at now: ContinuousClock.Instant) -> Admission {
        switch state {
        case .closed: return .go
        case .open(let until), .probing(let until):
            guard until <= now else { return .wait(until - now) }
            state = .probing(until: now + probeTimeout)
            return .probe
        }
    }

    /// Whether sends go out as usual: `false` also while a probe may go out, or has no answer yet.
    var isClosed: Bool { if case .closed = state { true } else { false } }

    /// Whether sends are refused.
    func isOpen(at now: ContinuousClock.Instant) -> Bool { pause(at: now) != nil }

    /// For how much longer sends are refused; `nil` if they are not.
    func pause(at now: ContinuousClock.Instant) -> Duration? {
        switch state {
        case .closed: nil
        case .open(let until), .probing(let until): now < until ? until - now : nil
        }
    }

    /// A send ended before the server could answer.
    mutating func learnedNothing(at now: ContinuousClock.Instant) {
        if case .probing = state { state = .open(until: now) }
    }

    /// The server has answered, with success or an error.
    mutating func answered() {
        state = .closed(failures: 0)
        backoff.succeeded()
    }

    /// The server or the connection to it has failed.
    mutating func failed(at now: ContinuousClock.Instant) {
        switch state {
        case .closed(let failures) where failures + 1 < maxFailures:
            state = .closed(failures: failures + 1)
        case .closed, .probing:
            state = .open(until: now + backoff.failed())
        case .open:
            // A send that went out before the circuit opened.
            break
        }
    }
}
