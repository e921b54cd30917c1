import CommandBus
import FoundationEssentials
import Logging
import MessageStorage
import Schemas
import ServiceContextModule
import ServiceKit
import ServiceLifecycle
import Synchronization

/// Hands logged messages to a relay until each has come to its end, and writes down what became of every component.
///
/// The state machine decides; this shell claims, relays and stores. A message is at work in at most one instance of the
/// message log, by its lease, and what is not finished when the process dies is claimed again when the lease is over, or
/// when the same instance starts again.
final class Outbox: Service {
    private enum Event: Sendable {
        /// A message that was just logged, and the trace of the request that brought it.
        case relay(Message, Traceparent?)
        /// Messages that a claim has brought.
        case claimed([Message])
        case look
        /// The alarm for this moment.
        case rang(UnixMilliseconds)
    }

    /// How long a claimed message is this instance's own, in milliseconds.
    private static let leaseDuration = Int64(DeliveryTimes.leaseDuration / .milliseconds(1))
    /// How much of a lease has to be left for a turn to begin, in milliseconds.
    private static let minLease = Int64(DeliveryTimes.minLease / .milliseconds(1))

    private let store: any MessageStore
    private let relay: any Relay
    private let owner: String
    /// Leases of this owner that were taken before belong to a process that is no more.
    private let started = UnixMilliseconds.now
    private let schedule = RetrySchedule()
    private let logger: Logger
    private let releasing: LastingTrouble
    private let claiming: LastingTrouble
    private let recording: LastingTrouble
    private let state: Mutex<OutboxStateMachine>
    private let events: AsyncStream<Event>
    private let event: AsyncStream<Event>.Continuation

    /// - Parameter owner: The instance's name, the same again after a restart, and no other's.
    init(store: any MessageStore, relay: any Relay, owner: String, capacity: Int = 256, logger: Logger) {
        self.store = store
        self.relay = relay
        self.owner = owner
        self.logger = logger
        releasing = LastingTrouble("the leases of the last run cannot be taken back yet", logger: logger)
        claiming = LastingTrouble("due messages cannot be claimed", logger: logger)
        recording = LastingTrouble("outcomes cannot be stored yet", logger: logger)
        state = Mutex(OutboxStateMachine(capacity: capacity))
        (events, event) = AsyncStream.makeStream()
    }

    /// Stores a message and sees to it that it is relayed, at once where there is room.
    ///
    /// - Returns: The message that was stored before under the same keys, if there was one.
    func log(_ message: Message) async throws -> Message? {
        let now = UnixMilliseconds.now
        let due = message.relay.nextAttempt ?? now
        guard due <= now, state.withLock({ $0.reserve(message) }) else {
            let known = try await store.insert(message)
            if due <= now { lookSoon(for: message.distribution) }
            return known
        }
        var message = message
        let lease = lease(at: now)
        message.relay.lease = lease
        message.relay.nextAttempt = lease.until
        do {
            let known = try await store.insert(message)
            if known == nil {
                event.yield(.relay(message, ServiceContext.current?.traceparent))
            } else {
                state.withLock { $0.cancelReservation(of: message.msiKey) }
            }
            return known
        } catch {
            state.withLock { $0.cancelReservation(of: message.msiKey) }
            throw error
        }
    }

    /// Hands a failed message out once more.
    ///
    /// - Returns: The message as it is now; `nil` if there is none.
    /// - Throws: ``CommandFailure`` with status `conflict` for one that has not failed, or has expired.
    func retry(_ msiKey: ObjectID, by actor: String) async throws -> Message? {
        let message = try await store.update(msiKey) { record, message in
            try record.retry(by: actor, at: .now, expires: message.expires)
        }
        if let message { lookSoon(for: message.distribution) }
        return message
    }

    /// Takes a message back that has not gone out.
    ///
    /// - Returns: The message as it is now; `nil` if there is none.
    /// - Throws: ``CommandFailure`` with status `conflict` where it is too late.
    func recall(_ msiKey: ObjectID, by actor: String) async throws -> Message? {
        try await store.update(msiKey) { record, _ in try record.recall(by: actor, at: .now) }
    }

    private func lookSoon(for distribution: Distribution) {
        state.withLock { $0.becameDue(distribution, at: .now) }
        event.yield(.look)
    }

    func run() async throws {
        let isComplete = await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                await cancelWhenGracefulShutdown { await self.takeBackLeases() }
                await self.relayWhatIsDue()
                return !Task.isCancelled
            }
            group.addTask {
                // Thrown only when the outbox has ended by itself.
                try? await gracefulShutdown()
                self.event.finish()
                try? await Task.sleep(for: DeliveryTimes.outboxStopTimeout)
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? true
        }
        // FCM may have what has no outcome: its lease ends by itself.
        guard isComplete else {
            let count = state.withLock { $0.atWork.count }
            return logger.warning("stopped before the outcome of some messages was stored", metadata: ["messages": "\(count)"])
        }
        do {
            try await store.releaseLeases(of: owner, endingBy: .max, now: .now)
        } catch {
            // They end by themselves.
            logger.warning("the leases cannot be given up", metadata: ["error": "\(error)"])
        }
    }

    /// Takes back what this instance held when it was killed: the process that is this instance now is another one.
    private func takeBackLeases() async {
        while !Task.isCancelled {
            do {
                try await store.releaseLeases(of: owner, endingBy: started + Self.leaseDuration, now: .now)
                releasing.worked()
                return
            } catch {
                releasing.failed(error)
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }

    /// Until the events end: asks the state machine what to do, and does it. Returns when every turn has ended.
    private func relayWhatIsDue() async {
        await withDiscardingTaskGroup { turns in
            var alarm = Alarm()
            event.yield(.look)
            for await event in events {
                switch event {
                case .relay(let message, let traceparent): turns.addTask { await self.turn(of: message, traceparent) }
                case .claimed(let messages):
                    for message in messages { turns.addTask { await self.turn(of: message, nil) } }
                case .look: break
                case .rang(let moment): alarm.rang(moment)
                }
                // Until it has said when to look next, by one and the same moment: asked twice, what becomes due in between
                // would be begun by neither answer.
                while case .claim(let claim) = begin(&alarm) {
                    // Beside the turns: those that need no claim must not wait for a slow one.
                    turns.addTask { self.event.yield(.claimed(await self.messages(for: claim))) }
                }
            }
        }
    }

    private func begin(_ alarm: inout Alarm) -> OutboxStateMachine.Action {
        let now = UnixMilliseconds.now
        let action = state.withLock { $0.begin(at: now) }
        if case .wait(let moment) = action { alarm.set(for: moment, at: now) { self.event.yield(.rang(moment)) } }
        return action
    }

    private func messages(for claim: Claim) async -> [Message] {
        do {
            let messages = try await store.claim(claim, lease: lease(at: .now), now: .now)
            claiming.worked()
            return state.withLock { $0.claimed(messages, for: claim, at: .now) }
        } catch {
            claiming.failed(error)
            state.withLock { $0.claimFailed(claim, at: .now) }
            return []
        }
    }

    /// Relays one message and stores the outcome.
    private func turn(of message: Message, _ traceparent: Traceparent?) async {
        let work = ServiceContext.current {
            $0.msiKey = message.msiKey.description
            $0.traceparent = traceparent
        }
        let turn = await ServiceContext.withValue(work) { await relayAndRecord(message) }
        state.withLock { $0.finished(turn, of: message, at: .now) }
        event.yield(.look)
    }

    private func relayAndRecord(_ message: Message) async -> OutboxStateMachine.Turn {
        let expires = message.expires
        let outstanding = message.relay.outstanding
        guard expires > .now, !outstanding.isEmpty else {
            await recordUnanswered(message)
            return .settled
        }
        guard let deadline = await endOfLease(of: message) else { return .dropped }
        let command = RelayMessage(
            msiKey: message.msiKey, timestamp: message.timestamp, draft: message.draft, expires: expires,
            components: outstanding)
        do {
            return await record(try await relay.relay(command, by: deadline), of: message)
        } catch {
            // The outbox has stopped: FCM may have it.
            guard !Task.isCancelled else { return .dropped }
            guard let refusal = ComponentError(refusal: error) else {
                logger.debug("no relay answered", metadata: ["error": "\(error)"])
                await recordUnanswered(message)
                return .unanswered
            }
            return await record(
                outstanding.map { ComponentOutcome(component: $0, result: .failure(refusal)) }, of: message)
        }
    }

    /// Until when a message is this instance's own, so that a relay may be at work on it; for long enough for one turn.
    ///
    /// A turn may begin long after its claim: the process was stopped, or the database slow. By then somebody else may be at
    /// work on the message, or it was recalled; what was asked in the claim is asked again.
    ///
    /// - Returns: `nil` where it is this instance's no more, or that cannot be found out. It is claimed again when it is due.
    private func endOfLease(of message: Message) async -> UnixMilliseconds? {
        if let until = message.relay.lease?.until, until - .now >= Self.minLease { return until }
        let renewed = lease(at: .now)
        do {
            let kept = try await store.update(message.msiKey) { record, _ in
                guard let lease = record.lease, lease == message.relay.lease else { throw LeaseLost() }
                record.lease = renewed
                record.nextAttempt = renewed.until
            }
            return kept == nil ? nil : renewed.until
        } catch {
            logger.debug("a turn came too late", metadata: ["error": "\(error)"])
            return nil
        }
    }

    /// The message has gone to somebody else.
    private struct LeaseLost: Error {}

    private func record(_ outcomes: [ComponentOutcome], of message: Message) async -> OutboxStateMachine.Turn {
        let owner = owner
        let schedule = schedule
        await record(message.msiKey) {
            $0.answered(
                outcomes, to: owner, at: .now, expires: message.expires, schedule: schedule, random: .random(in: 0...1))
        }
        let isDeferred = outcomes.contains { outcome in
            if case .failure(let error) = outcome.result { error.class == .retryable } else { false }
        }
        return isDeferred ? .deferred : .settled
    }

    private func recordUnanswered(_ message: Message) async {
        let owner = owner
        await record(message.msiKey) { $0.unanswered(to: owner, at: .now, expires: message.expires) }
    }

    /// Stores what became of a message. As long as the database is away it is tried again: the outcome is known only here.
    private func record(_ msiKey: ObjectID, _ change: @escaping @Sendable (inout RelayRecord) -> Void) async {
        while !Task.isCancelled {
            do {
                if let message = try await store.update(msiKey, { record, _ in change(&record) }) { report(message) }
                recording.worked()
                return
            } catch {
                recording.failed(error)
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }

    private func report(_ message: Message) {
        let relay = message.relay
        let errors = relay.components.compactMap { record in
            record.error.map { "\(record.component.rawValue): \($0.code) \($0.message)" }
        }
        switch relay.state {
        case .relayed: logger.info("relayed", metadata: ["attempts": "\(relay.attempts)"])
        case .failed, .expired:
            logger.error("\(relay.state.rawValue)", metadata: ["errors": "\(errors.joined(separator: "; "))"])
        case .retrying where !errors.isEmpty:
            logger.warning("will be tried again", metadata: ["errors": "\(errors.joined(separator: "; "))"])
        case .retrying, .pending, .recalled: break
        }
    }

    private func lease(at now: UnixMilliseconds) -> Lease {
        Lease(owner: owner, until: now + Self.leaseDuration)
    }
}

extension ComponentError {
    /// What a relay's refusal of a whole command means for its components; `nil` where the relay, or its answer, was only
    /// away.
    fileprivate init?(refusal failure: CommandFailure) {
        switch failure.status {
        case .overloaded, .unavailable, .storageFull, .deadlineExceeded, .ok: return nil
        case .internal: self.init(class: .retryable, code: "RELAY_INTERNAL", message: failure.message)
        case .invalid, .unauthenticated, .forbidden, .notFound, .conflict:
            self.init(class: .permanent, code: "RELAY_\(failure.status.rawValue.uppercased())", message: failure.message)
        }
    }
}
