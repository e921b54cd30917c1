import Schemas
import Synchronization
import Base

/// Limits the rate of sends to FCM's quota. The state machine decides; this shell resumes the waiting sends.
final class Pacer: Sendable {
    private typealias Waiter = CheckedContinuation<DeliveryError?, Never>

    private struct State {
        var machine: PacingStateMachine<Waiter>
        /// Goes off when the next send may go out, or when a caller gives up.
        var alarm = Alarm<ContinuousClock.Instant>()
    }

    private let state: Mutex<State>

    /// - Parameters:
    ///   - rate: Requests a second.
    ///   - ramp: The time from nothing to the full rate.
    init(rate: Double, ramp: Duration) {
        let now = ContinuousClock.now
        state = Mutex(State(machine: PacingStateMachine(bucket: TokenBucket(rate: rate, ramp: ramp, at: now), at: now)))
    }

    /// Waits for a send's turn.
    ///
    /// - Parameters:
    ///   - topic: The topic, whose messages pause together; `nil` for a send that is not to a single topic.
    ///   - cost: The number of requests that it counts for.
    ///   - key: The key of its message or push, by which ``withdraw(_:)`` finds it.
    ///   - pushArrival: When the push arrived to which it is a group of recipients; `nil` for a message. After the turn of a group
    ///     ``endGroup(of:cost:isAlert:)`` must be called.
    ///   - isPopUp: Whether it is an Alert's pop-up alone.
    ///   - deadline: When its caller gives up.
    /// - Returns: `nil` if it may go out; otherwise a retryable error with the reason.
    func turn(
        for topic: FCMTopic?, isAlert: Bool, isPopUp: Bool = false, cost: Int = 1, of key: ObjectID? = nil,
        pushArrival: ContinuousClock.Instant? = nil, by deadline: ContinuousClock.Instant
    ) async -> DeliveryError? {
        guard .now < deadline else {
            return DeliveryError(.noTime)
        }
        return await withCheckedContinuation { waiter in
            act {
                $0.ask(
                    .init(
                        waiter: waiter, topic: topic, isAlert: isAlert, cost: cost, deadline: deadline, key: key,
                        pushArrival: pushArrival, isPopUp: isPopUp), at: .now)
            }
        }
    }

    /// Fast path: takes the send's turn without suspending if that is possible, as it nearly always is.
    func tryTakeTurn(
        to topic: FCMTopic?, isAlert: Bool = false, cost: Int, of key: ObjectID? = nil,
        pushArrival: ContinuousClock.Instant? = nil, by deadline: ContinuousClock.Instant
    ) -> Bool {
        let now = ContinuousClock.now
        guard now < deadline else { return false }
        return state.withLock {
            $0.machine.tryTakeTurn(to: topic, isAlert: isAlert, cost: cost, of: key, pushArrival: pushArrival, at: now)
        }
    }

    /// Whether a send would have to wait, whatever its topic.
    func mustWait(_ cost: Int) -> Bool {
        let now = ContinuousClock.now
        return state.withLock { $0.machine.mustWait(cost, at: now) }
    }

    /// A group that had its turn has ended.
    ///
    /// - Parameter key: The key of its push.
    func endGroup(of key: ObjectID?, cost: Int, isAlert: Bool) {
        act { $0.endGroup(of: key, cost: cost, isAlert: isAlert, at: .now) }
    }

    /// Refuses the groups that wait for the answers of others: FCM does not answer.
    func circuitOpened(_ error: DeliveryError) {
        act { $0.circuitOpened(error) }
    }

    /// Notes an error that affects more than one send.
    func learn(from failure: SendFailure, about topic: FCMTopic?) {
        let pause = Duration(min(max(failure.error.retryAfter ?? Self.minPause, Self.minPause), Self.maxPause))
        switch failure.scope {
        case .project: act { $0.projectQuotaExceeded(for: pause, at: .now) }
        case .topic: if let topic { act { $0.topicQuotaExceeded(topic, for: pause, at: .now) } }
        case .inconclusive, .message, .service: break
        }
    }

    /// The current rate, the number of waiting sends and the rest of a pause.
    func pace(of project: String) -> ProjectPace {
        state.withLock { $0.machine.pace(of: project, at: .now) }
    }

    /// The sends of the last minute as a part of those that the full rate allows.
    var quotaUsed: Double { state.withLock { $0.machine.quotaUsed(at: .now) } }

    /// Refuses the waiting sends of a message or a push, unless a group of the push is on its way to FCM.
    ///
    /// - Returns: The number of their commands.
    func withdraw(_ key: ObjectID) -> Int {
        var count = 0
        act { machine in
            let (refused, commands) = machine.withdraw(key, at: .now)
            count = commands
            return refused
        }
        return count
    }

    /// Fails all waiting sends, and every later one.
    func stop() {
        act { $0.stop() }
    }

    /// The range of a pause. FCM's answer may name no pause, or an absurd one.
    private static let minPause: Milliseconds = 1_000
    private static let maxPause: Milliseconds = 3_600_000

    /// - Parameter alarm: The alarm that has gone off, if any.
    private func act(
        on alarm: ContinuousClock.Instant? = nil,
        _ event: (inout PacingStateMachine<Waiter>) -> [PacingStateMachine<Waiter>.Decision]
    ) {
        let (decisions, next) = state.withLock { state in
            let late = state.alarm.moment.map { state.machine.refuseAfterPause(alarm: $0, at: .now) } ?? []
            if let alarm { state.alarm.rang(alarm) }
            let decisions = late + event(&state.machine)
            return (decisions, Self.newAlarm(&state))
        }
        for decision in decisions {
            switch decision {
            case .go(let waiter): waiter.resume(returning: nil)
            case .refuse(let waiter, let refusal): waiter.resume(returning: DeliveryError(refusal))
            }
        }
        guard let next else { return }
        Task {
            try await Task.sleep(until: next)
            self.act(on: next) { $0.advance(at: .now) }
        }
    }

    /// - Returns: The time of a new alarm, unless an earlier one is set already.
    private static func newAlarm(_ state: inout State) -> ContinuousClock.Instant? {
        guard let moment = state.machine.nextMoment(at: .now), state.alarm.set(for: moment) else { return nil }
        return moment
    }
}

extension DeliveryError {
    /// The error of a send that did not get its turn.
    fileprivate init<Waiter>(_ refusal: PacingStateMachine<Waiter>.Refusal) {
        switch refusal {
        case .projectPaused(let pause): self.init(.projectPaused, retryAfter: Milliseconds(pause))
        case .topicPaused(let pause): self.init(.topicPaused, retryAfter: Milliseconds(pause))
        case .tooMuch(let wait): self.init(.paced, retryAfter: Milliseconds(wait))
        case .paused: self.init(.noTime, "the relay did not run for a while, and its caller may have given up")
        case .stopped: self.init(.stopped)
        case .circuitOpen(let error): self = error
        }
    }
}
