import Schemas
import ServiceKit
import Synchronization
import Base

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
        case .wait(let pause): return Self.error(outage, pause: pause)
        }
    }

    /// The error of a send that would be refused now; `nil` if it would not be.
    var error: DeliveryError? {
        state.withLock { state in state.machine.pause(at: .now).map { Self.error(state.outage, pause: $0) } }
    }

    /// Whether no send is refused, and none would be the probe.
    var isClosed: Bool { state.withLock(\.machine.isClosed) }

    /// Why a send would be refused now, in one sentence; `nil` if it would not be.
    var openReason: String? {
        state.withLock { $0.machine.isOpen(at: .now) ? Self.problem($0.outage) : nil }
    }

    /// The outage of FCM or of the connection to it; `nil` if FCM answered last, or there was no request for a long time.
    var outage: Outage? {
        state.withLock { state in state.outage.flatMap { $0.isRecent ? $0 : nil } }
    }

    private static func error(_ outage: Outage?, pause: Duration) -> DeliveryError {
        DeliveryError(.circuitOpen, problem(outage), retryAfter: max(1, Milliseconds(pause)))
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
