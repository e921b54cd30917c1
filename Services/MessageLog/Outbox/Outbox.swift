import CommandBus
import FoundationEssentials
import Logging
import MessageStorage
import Schemas
import ServiceContextModule
import ServiceKit
import ServiceLifecycle
import Synchronization
import Time

/// Hands logged messages to a relay until each has ended, and stores the outcome of every component.
///
/// The state machine decides; this shell claims, relays and stores. The lease ensures that at most one process relays a message.
/// If the process dies, its messages are claimed again when their leases end, or when the same instance starts again
/// (``LeaseRecovery``).
final class Outbox: Service {
    private enum Event: Sendable {
        /// A new message, and the trace of its request.
        case relay(Message, Traceparent?)
        /// Messages from a claim.
        case claimed([Message])
        /// A message from a claim whose previous turn was just ending.
        case claimedAgain(Message)
        case look
        /// The alarm for this time has gone off.
        case rang(UnixMilliseconds)
    }

    /// The minimum rest of a lease for the begin of a turn, in milliseconds.
    private static let minLease = Int64(DeliveryTimes.minLease / .milliseconds(1))

    private let store: any MessageStore
    private let relay: any Relay
    private let owner: String
    private let schedule = RetrySchedule()
    private let logger: Logger
    private let relaying: OutageLog
    private let claiming: OutageLog
    private let recording: OutageLog
    private let state: Mutex<OutboxStateMachine>
    private let started = ContinuousClock.now
    private let leaseClock = Mutex(LeaseClock(wall: .now, uptime: 0))
    /// Why no relay accepts messages; `nil` while one does.
    private let unreachable = Mutex<ComponentError?>(nil)
    private let events: AsyncStream<Event>
    private let event: AsyncStream<Event>.Continuation

    /// - Parameter owner: The process's unique name.
    init(store: any MessageStore, relay: any Relay, owner: String, capacity: Int = 256, logger: Logger) {
        self.store = store
        self.relay = relay
        self.owner = owner
        self.logger = logger
        relaying = OutageLog("no relay takes messages", logger: logger)
        claiming = OutageLog("due messages cannot be claimed", logger: logger)
        recording = OutageLog("outcomes cannot be stored yet", logger: logger)
        state = Mutex(OutboxStateMachine(capacity: capacity))
        (events, event) = AsyncStream.makeStream()
    }

    /// Stores a message and relays it, at once if there is room.
    ///
    /// - Returns: The message that is stored under the same keys already, if there is one.
    func log(_ message: Message) async throws -> Message? {
        let now = UnixMilliseconds.now
        let due = message.relay.nextAttempt ?? now
        var message = message
        if due <= now, let error = unreachable.withLock(\.self) { message.relay.setError(error) }
        guard due <= now, state.withLock({ $0.reserve(message) }) else {
            let known = try await store.insert(message)
            if due <= now { lookSoon(for: message.distribution) }
            return known
        }
        let lease = lease(at: now)
        message.relay.lease = lease
        message.relay.nextAttempt = lease.until
        do {
            let known = try await store.insert(message)
            if known == nil {
                event.yield(.relay(message, ServiceContext.current?.traceparent))
            } else {
                cancelReservation(of: message.msiKey)
            }
            return known
        } catch {
            cancelReservation(of: message.msiKey)
            throw error
        }
    }

    private func cancelReservation(of msiKey: ObjectID) {
        if let claimed = state.withLock({ $0.cancelReservation(of: msiKey) }) { event.yield(.claimedAgain(claimed)) }
    }

    /// Relays a failed message again.
    ///
    /// - Returns: The changed message; `nil` if it does not exist.
    /// - Throws: ``CommandFailure`` with status `conflict` if the message has not failed or has expired.
    func retry(_ msiKey: ObjectID, by actor: String) async throws -> Message? {
        let message = try await store.update(msiKey) { record, message in
            try record.retry(by: actor, at: .now, expires: message.expires)
        }
        if let message { lookSoon(for: message.distribution) }
        return message
    }

    /// Recalls a message that has not gone out.
    ///
    /// - Returns: The changed message; `nil` if it does not exist.
    /// - Throws: ``CommandFailure`` with status `conflict` if it is too late.
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
                await self.relayWhatIsDue()
                return !Task.isCancelled
            }
            group.addTask {
                // This throws only if the outbox has ended by itself.
                try? await gracefulShutdown()
                self.event.finish()
                try? await Task.sleep(for: DeliveryTimes.outboxStopTimeout)
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? true
        }
        // FCM may have messages without an outcome, so their leases are not released but end by themselves.
        guard isComplete else {
            let count = state.withLock { $0.atWork.count }
            return logger.warning("stopped before the outcome of some messages was stored", metadata: ["messages": "\(count)"])
        }
        do {
            try await store.releaseLeases(of: owner, now: .now)
        } catch {
            // The leases end by themselves.
            logger.warning("the leases cannot be given up", metadata: ["error": "\(error)"])
        }
    }

    /// Performs the state machine's actions until the events end. Returns when every turn has ended.
    private func relayWhatIsDue() async {
        await withDiscardingTaskGroup { turns in
            var alarm = Alarm<UnixMilliseconds>()
            event.yield(.look)
            for await event in events {
                switch event {
                case .relay(let message, let traceparent): turns.addTask { await self.turn(of: message, traceparent) }
                case .claimed(let messages):
                    for message in messages { turns.addTask { await self.turn(of: message) } }
                case .claimedAgain(let message): turns.addTask { await self.turn(of: message, isLeaseCertain: false) }
                case .look: break
                case .rang(let moment): alarm.rang(moment)
                }
                // Ask until the answer is to wait. Claim and alarm come from the same call: with two calls, a message that
                // becomes due in between would be missed by both.
                while case .claim(let claim) = begin(&alarm) {
                    // A task of its own: turns that need no claim must not wait for a slow claim.
                    turns.addTask { self.event.yield(.claimed(await self.messages(for: claim))) }
                }
            }
        }
    }

    private func begin(_ alarm: inout Alarm<UnixMilliseconds>) -> OutboxStateMachine.Action {
        let now = UnixMilliseconds.now
        let action = state.withLock { $0.begin(at: now) }
        if case .wait(let moment) = action, alarm.set(for: moment) {
            Task {
                try await Task.sleep(for: .milliseconds(max(0, moment - now)))
                self.event.yield(.rang(moment))
            }
        }
        return action
    }

    private func messages(for claim: Claim) async -> [Message] {
        do {
            let now = UnixMilliseconds.now
            let leaseTime = leaseClock.withLock { $0.time(wall: now, uptime: uptime) }
            let messages = try await store.claim(claim, lease: lease(at: now), now: leaseTime)
            claiming.worked(of: claim.distribution.rawValue)
            return state.withLock { $0.claimed(messages, for: claim, at: .now) }
        } catch {
            claiming.failed(error, of: claim.distribution.rawValue)
            state.withLock { $0.claimFailed(claim, at: .now) }
            return []
        }
    }

    /// Relays one message and stores the outcome.
    ///
    /// - Parameter isLeaseCertain: Whether the lease was just taken, so that nothing can have happened to the message.
    private func turn(of message: Message, _ traceparent: Traceparent? = nil, isLeaseCertain: Bool = true) async {
        let work = ServiceContext.current {
            $0.msiKey = message.msiKey.description
            $0.traceparent = traceparent
        }
        let turn = await ServiceContext.withValue(work) { await relayAndRecord(message, isLeaseCertain: isLeaseCertain) }
        let again = state.withLock { $0.finished(turn, of: message, at: .now) }
        event.yield(again.map(Event.claimedAgain) ?? .look)
    }

    private func relayAndRecord(_ message: Message, isLeaseCertain: Bool) async -> OutboxStateMachine.Turn {
        let expires = message.expires
        let outstanding = message.relay.outstanding
        guard expires > .now, !outstanding.isEmpty else {
            await record(message) { $0.expire(at: .now, expires: expires, owner: $1) }
            return .expired
        }
        guard let deadline = await endOfLease(of: message, isCertain: isLeaseCertain) else { return .dropped }
        let command = RelayMessage(
            msiKey: message.msiKey, timestamp: message.timestamp, draft: message.draft, expires: expires,
            components: outstanding)
        do {
            let outcomes = try await relay.relay(command, by: deadline)
            // The outage is over only after a final outcome. A relay's trials of an unreachable FCM do not end it.
            if outcomes.contains(where: \.isFinal) { relayAnswered() }
            return await record(outcomes, of: message)
        } catch {
            // The outbox has stopped. FCM may have the message.
            guard !Task.isCancelled else { return .dropped }
            guard let refusal = ComponentError(refusal: error) else { return await recordFailure(error, of: message) }
            relayAnswered()
            return await record(
                outstanding.map { ComponentOutcome(component: $0, result: .failure(refusal)) }, of: message)
        }
    }

    private func relayAnswered() {
        relaying.worked()
        unreachable.withLock { $0 = nil }
    }

    /// Stores that no relay has answered for a message.
    private func recordFailure(_ failure: CommandFailure, of message: Message) async -> OutboxStateMachine.Turn {
        let expires = message.expires
        guard !failure.isOutcomeUnknown else {
            let schedule = schedule
            await record(message) {
                $0.unanswered(
                    failure.message, to: $1, at: .now, expires: expires, schedule: schedule, random: .random(in: 0...1))
            }
            return .unanswered
        }
        relaying.failed(failure)
        let error = ComponentError.relayUnreachable(failure)
        unreachable.withLock { $0 = error }
        await record(message, reportsRetry: false) { $0.unreachable(error, to: $1, at: .now, expires: expires) }
        return .unreachable
    }

    /// Ensures that the lease is long enough for one turn, and returns its end.
    ///
    /// A turn may begin long after its claim, if the process was stopped or the database was slow. By then another process may be
    /// relaying the message, or it was recalled. So the lease is checked and renewed in the store.
    ///
    /// - Returns: `nil` if this process no longer owns the message, or the store cannot be asked. The message is claimed again
    /// when
    ///   it is due.
    private func endOfLease(of message: Message, isCertain: Bool) async -> UnixMilliseconds? {
        // If the rest is longer than a lease, the clock was set back, and another process may have shortened the lease.
        if isCertain, let until = message.relay.lease?.until, (Self.minLease...Lease.duration).contains(until - .now) {
            return until
        }
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

    /// Another process has the message.
    private struct LeaseLost: Error {}

    private func record(_ outcomes: [ComponentOutcome], of message: Message) async -> OutboxStateMachine.Turn {
        let schedule = schedule
        await record(message) {
            $0.answered(
                outcomes, to: $1, at: .now, expires: message.expires, schedule: schedule, random: .random(in: 0...1))
        }
        let isDeferred = outcomes.contains { outcome in
            if case .failure(let error) = outcome.result { error.class == .retryable } else { false }
        }
        return isDeferred ? .deferred : .settled
    }

    /// Stores the outcome of a turn. While the database is unreachable it retries: only this process knows the outcome.
    ///
    /// - Parameters:
    ///   - reportsRetry: Whether the log reports a coming retry.
    ///   - change: Takes the relay record and this process's name.
    private func record(
        _ message: Message, reportsRetry: Bool = true, _ change: @escaping @Sendable (inout RelayRecord, String) -> Void
    ) async {
        let owner = owner
        while !Task.isCancelled {
            do {
                let updated = try await store.update(message.msiKey) { record, _ in change(&record, owner) }
                if let updated, reportsRetry || updated.relay.nextAttempt == nil { updated.reportState(to: logger) }
                recording.worked(of: message.msiKey.description)
                return
            } catch {
                recording.failed(error, of: message.msiKey.description)
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }

    /// The monotonic clock, in milliseconds.
    private var uptime: Int64 { Int64((ContinuousClock.now - started) / .milliseconds(1)) }

    private func lease(at now: UnixMilliseconds) -> Lease {
        Lease(owner: owner, until: now + Lease.duration)
    }
}

extension ComponentOutcome {
    /// Whether FCM has accepted it or never will.
    fileprivate var isFinal: Bool {
        switch result {
        case .success: true
        case .failure(let error): error.class != .retryable
        }
    }
}
