import Schemas
import Synchronization

/// Lets sends out at a pace that FCM takes. The state machine decides; this shell wakes whoever may go.
final class Pacer: Sendable {
    private typealias Waiter = CheckedContinuation<ComponentError?, Never>

    private struct State {
        var machine: PacingStateMachine<Waiter>
        /// The moment for which the alarm is set.
        var alarm: ContinuousClock.Instant?
    }

    private let state: Mutex<State>

    /// - Parameters:
    ///   - rate: Requests a second.
    ///   - ramp: How long it takes to get there from nothing.
    init(rate: Double, ramp: Duration) {
        state = Mutex(State(machine: PacingStateMachine(bucket: TokenBucket(rate: rate, ramp: ramp, at: .now))))
    }

    /// Waits for a send's turn.
    ///
    /// - Parameters:
    ///   - topic: Whose messages pause together; `nil` for a send that is for no topic alone.
    ///   - cost: For how many it counts.
    ///   - deadline: When nobody waits for it any more.
    /// - Returns: `nil` when it may go out; otherwise why it cannot in time: a retryable error.
    func turn(
        for topic: TopicKey?, isAlert: Bool, cost: Int = 1, by deadline: ContinuousClock.Instant
    ) async -> ComponentError? {
        guard .now < deadline else {
            return ComponentError(class: .retryable, code: "NO_TIME", message: "there was no time left to send it")
        }
        return await withCheckedContinuation { waiter in
            act { $0.ask(.init(waiter: waiter, topic: topic, isAlert: isAlert, cost: cost, deadline: deadline), at: .now) }
        }
    }

    /// The same without a wait, and without a wait's price: whether it may go out at once, as it nearly always may.
    func goesAtOnce(to topic: TopicKey?, cost: Int, by deadline: ContinuousClock.Instant) -> Bool {
        let now = ContinuousClock.now
        return now < deadline && state.withLock { $0.machine.goAtOnce(to: topic, cost: cost, at: now) }
    }

    /// Takes note of an error of FCM's that is about more than the one send.
    func learn(from failure: SendFailure, about topic: TopicKey?) {
        let pause = Duration.milliseconds(
            min(max(failure.error.retryAfter ?? Self.minPause, Self.minPause), Self.maxPause))
        switch failure.scope {
        case .project: act { $0.projectQuotaExceeded(for: pause, at: .now) }
        case .topic: if let topic { act { $0.topicQuotaExceeded(topic, for: pause, at: .now) } }
        case .nobody, .message, .service: break
        }
    }

    /// How fast sends may go out now, and what keeps them waiting.
    func pace(of project: String) -> ProjectPace {
        state.withLock { $0.machine.pace(of: project, at: .now) }
    }

    /// Refuses all that waits, and all that comes.
    func stop() {
        act { $0.stop() }
    }

    /// In milliseconds. An answer without a time, or with a wild one, must not stop the project for long.
    private static let minPause: Int64 = 1_000
    private static let maxPause: Int64 = 3_600_000

    /// - Parameter alarm: The one that has come.
    private func act(
        on alarm: ContinuousClock.Instant? = nil,
        _ event: (inout PacingStateMachine<Waiter>) -> [PacingStateMachine<Waiter>.Decision]
    ) {
        let (decisions, next) = state.withLock { state in
            let late = state.alarm.map { state.machine.refuseAfterPause(alarm: $0, at: .now) } ?? []
            if alarm != nil, state.alarm == alarm { state.alarm = nil }
            let decisions = late + event(&state.machine)
            return (decisions, Self.newAlarm(&state))
        }
        for decision in decisions {
            switch decision {
            case .go(let waiter): waiter.resume(returning: nil)
            case .refuse(let waiter, let refusal): waiter.resume(returning: ComponentError(refusal))
            }
        }
        guard let next else { return }
        Task {
            try await Task.sleep(until: next)
            self.act(on: next) { $0.advance(at: .now) }
        }
    }

    /// - Returns: The moment to wake up, where no earlier one is set already.
    private static func newAlarm(_ state: inout State) -> ContinuousClock.Instant? {
        guard let moment = state.machine.nextMoment(at: .now), state.alarm.map({ moment < $0 }) ?? true else { return nil }
        state.alarm = moment
        return moment
    }
}

extension ComponentError {
    /// Why a send did not get its turn.
    fileprivate init<Waiter>(_ refusal: PacingStateMachine<Waiter>.Refusal) {
        switch refusal {
        case .projectPaused(let pause):
            self.init(
                class: .retryable, code: "PROJECT_PAUSED", message: "FCM's quota for the project is used up",
                retryAfter: pause.milliseconds)
        case .topicPaused(let pause):
            self.init(
                class: .retryable, code: "TOPIC_PAUSED", message: "FCM's quota for the topic is used up",
                retryAfter: pause.milliseconds)
        case .tooMuch(let wait):
            self.init(
                class: .retryable, code: "PACED", message: "there is more to send than the pace lets out in time",
                retryAfter: wait.milliseconds)
        case .paused:
            self.init(
                class: .retryable, code: "NO_TIME",
                message: "the relay did not run for a while, and its caller may have given up")
        case .stopped:
            self.init(class: .retryable, code: "STOPPED", message: "the relay is stopping")
        }
    }
}
