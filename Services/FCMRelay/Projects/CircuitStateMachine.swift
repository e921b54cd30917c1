import ServiceKit

/// Whether a project's FCM is worth asking. Pure: events in, decisions out.
///
/// After many failures in a row nothing is sent for a moment, and then one message alone, to see. Without this every send of a
/// project whose FCM hangs would hold its stream, and its place among the commands, until it times out.
struct CircuitStateMachine: Sendable {
    /// Whether a send may go out.
    enum Admission: Hashable, Sendable {
        case go
        /// It goes alone, to see whether FCM answers again.
        case trial
        /// Nothing is sent for so long.
        case wait(Duration)
    }

    private enum State {
        case closed(failures: Int)
        /// Nothing is sent before `until`; `pause` is how long that was.
        case open(until: ContinuousClock.Instant, pause: Duration)
        /// One is on its way to see; without its answer by `until` another goes.
        case trying(until: ContinuousClock.Instant, pause: Duration)
    }

    /// So many in a row are no accident.
    private static let maxFailures = 20
    private static let firstPause = Duration.seconds(1)
    /// Short, for a storm warning that waits.
    private static let maxPause = Duration.seconds(8)
    /// A little more than any request may take.
    private static let trialTimeout = DeliveryTimes.fcmRequestTimeout + .seconds(5)

    private var state = State.closed(failures: 0)

    /// Something is to be sent.
    mutating func admit(at now: ContinuousClock.Instant) -> Admission {
        switch state {
        case .closed: return .go
        case .open(let until, let pause), .trying(let until, let pause):
            guard until <= now else { return .wait(until - now) }
            state = .trying(until: now + Self.trialTimeout, pause: pause)
            return .trial
        }
    }

    /// Whether nothing may go out.
    func isOpen(at now: ContinuousClock.Instant) -> Bool {
        switch state {
        case .closed: false
        case .open(let until, _), .trying(let until, _): now < until
        }
    }

    /// What went out ended before FCM could answer.
    mutating func learnedNothing(at now: ContinuousClock.Instant) {
        if case .trying(_, let pause) = state { state = .open(until: now, pause: pause) }
    }

    /// FCM has answered, whatever it was.
    mutating func answered() {
        state = .closed(failures: 0)
    }

    /// FCM, or the way to it, has failed.
    mutating func failed(at now: ContinuousClock.Instant) {
        switch state {
        case .closed(let failures) where failures + 1 < Self.maxFailures:
            state = .closed(failures: failures + 1)
        case .closed:
            state = .open(until: now + Self.firstPause, pause: Self.firstPause)
        case .open:
            // One that was under way before.
            break
        case .trying(_, let pause):
            let longer = min(pause * 2, Self.maxPause)
            state = .open(until: now + longer, pause: longer)
        }
    }
}
