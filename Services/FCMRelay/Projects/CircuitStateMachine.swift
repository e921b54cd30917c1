import ServiceKit

/// The state of a project's circuit breaker. Pure: events in, decisions out.
///
/// After many failures in a row nothing is sent for a pause, and then a single trial. Without this, while FCM hangs, every send
/// would occupy a stream, and one of the project's commands, until its timeout.
struct CircuitStateMachine: Sendable {
    /// Whether a send may go out.
    enum Admission: Hashable, Sendable {
        case go
        /// It goes alone, as the trial.
        case trial
        /// Nothing is sent for this time.
        case wait(Duration)
    }

    private enum State {
        case closed(failures: Int)
        /// Nothing is sent before `until`, the end of a pause of this length.
        case open(until: ContinuousClock.Instant, pause: Duration)
        /// A trial is pending. Without an answer by `until` another one goes.
        case trying(until: ContinuousClock.Instant, pause: Duration)
    }

    /// This many failures in a row open the circuit.
    private static let maxFailures = 20
    private static let firstPause = Duration.seconds(1)
    /// Short, because an urgent message may be waiting.
    private static let maxPause = Duration.seconds(8)
    /// A little more than the maximum duration of a request.
    private static let trialTimeout = DeliveryTimes.fcmRequestTimeout + .seconds(5)

    private var state = State.closed(failures: 0)

    /// Decides about a send.
    mutating func admit(at now: ContinuousClock.Instant) -> Admission {
        switch state {
        case .closed: return .go
        case .open(let until, let pause), .trying(let until, let pause):
            guard until <= now else { return .wait(until - now) }
            state = .trying(until: now + Self.trialTimeout, pause: pause)
            return .trial
        }
    }

    /// Whether sends are refused.
    func isOpen(at now: ContinuousClock.Instant) -> Bool {
        switch state {
        case .closed: false
        case .open(let until, _), .trying(let until, _): now < until
        }
    }

    /// A send ended before FCM could answer.
    mutating func learnedNothing(at now: ContinuousClock.Instant) {
        if case .trying(_, let pause) = state { state = .open(until: now, pause: pause) }
    }

    /// FCM has answered, with success or an error.
    mutating func answered() {
        state = .closed(failures: 0)
    }

    /// FCM or the connection to it has failed.
    mutating func failed(at now: ContinuousClock.Instant) {
        switch state {
        case .closed(let failures) where failures + 1 < Self.maxFailures:
            state = .closed(failures: failures + 1)
        case .closed:
            state = .open(until: now + Self.firstPause, pause: Self.firstPause)
        case .open:
            // A send that went out before the circuit opened.
            break
        case .trying(_, let pause):
            let longer = min(pause * 2, Self.maxPause)
            state = .open(until: now + longer, pause: longer)
        }
    }
}
