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

/// Hands logged messages and pushes to a relay until each has ended, and stores the outcome of every part.
///
/// The state machine decides; this shell claims, relays and stores. The lease ensures that at most one process relays an
/// item. If the process dies, its items are claimed again when their leases end, or when the same instance starts again
/// (``LeaseRecovery``).
final class Outbox: Service {
    private enum Event: Sendable {
        /// A new item, and the trace of its request.
        case relay(OutboxItem, Traceparent?)
        case claimed([OutboxItem])
        /// An item from a claim whose previous turn was just ending.
        case claimedAgain(OutboxItem)
        /// An item may have become due, or there may be room again.
        case check
        /// The alarm for this time has gone off.
        case rang(UnixMilliseconds)
    }

    /// A turn begins only if its lease still lasts this long.
    private static let minLease = Milliseconds(DeliveryTimes.minLease)

    private let store: any MessageStore
    private let relay: any Relay
    private let owner: String
    private let schedule = RetrySchedule()
    private let announcer: PushAnnouncer
    private let logger: Logger
    private let relaying: OutageLog
    private let claiming: OutageLog
    private let recording: OutageLog
    private let state: Mutex<OutboxStateMachine>
    private let leaseClock = Mutex(LeaseClock(wall: .now, monotonic: .now))
    /// Why no relay accepts messages; `nil` while one does.
    private let unreachable = Mutex<DeliveryError?>(nil)
    private let events: AsyncStream<Event>
    private let event: AsyncStream<Event>.Continuation

    /// - Parameter owner: The process's unique name.
    init(
        store: any MessageStore, relay: any Relay, owner: String, capacity: Int = 256, announcer: PushAnnouncer, logger: Logger
    ) {
        self.store = store
        self.relay = relay
        self.owner = owner
        self.announcer = announcer
        self.logger = logger
        relaying = OutageLog("no relay takes messages", logger: logger)
        claiming = OutageLog("due messages cannot be claimed", logger: logger)
        recording = OutageLog("outcomes cannot be stored yet", logger: logger)
        state = Mutex(OutboxStateMachine(capacity: capacity))
        (events, event) = AsyncStream.makeStream()
    }

    /// Stores a message or a push and relays it, at once if there is room.
    ///
    /// - Returns: The item that is stored under the same keys already, if there is one.
    func log(_ item: OutboxItem) async throws -> OutboxItem? {
        let now = UnixMilliseconds.now
        let due = item.record.nextAttempt ?? now
        var item = item
        if due <= now, let error = unreachable.withLock(\.self) { item.change { $0.setError(error) } }
        guard due <= now, state.withLock({ $0.reserve(item) }) else {
            let known = try await store.insert(item)
            if due <= now { claimSoon(for: item.urgency) }
            return known
        }
        let lease = lease(at: now)
        item.change { record in
            record.lease = lease
            record.nextAttempt = lease.until
        }
        do {
            let known = try await store.insert(item)
            if known == nil {
                event.yield(.relay(item, ServiceContext.current?.traceparent))
            } else {
                cancelReservation(of: item.key)
            }
            return known
        } catch {
            cancelReservation(of: item.key)
            throw error
        }
    }

    private func cancelReservation(of key: OutboxKey) {
        if let claimed = state.withLock({ $0.cancelReservation(of: key) }) { event.yield(.claimedAgain(claimed)) }
    }

    /// Relays a failed message or push again.
    ///
    /// - Returns: The changed item; `nil` if it does not exist.
    /// - Throws: ``CommandFailure`` with status `conflict` if it has not failed or has expired.
    func retry(_ key: OutboxKey, by actor: String) async throws -> OutboxItem? {
        let item = try await store.update(key) { record, item in
            try record.retry(by: actor, at: .now, expires: item.expires)
        }
        if let item { claimSoon(for: item.urgency) }
        return item
    }

    /// Recalls a message or a push that has not gone out.
    ///
    /// - Returns: The changed item; `nil` if it does not exist.
    /// - Throws: ``CommandFailure`` with status `conflict` if it is too late.
    func recall(_ key: OutboxKey, by actor: String) async throws -> OutboxItem? {
        let item = try await store.update(key) { record, _ in try record.recall(by: actor, at: .now) }
        if let item { announcer.announceEnd(of: item) }
        return item
    }

    private func claimSoon(for urgency: Urgency) {
        state.withLock { $0.becameDue(urgency, at: .now) }
        event.yield(.check)
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
            let count = state.withLock { $0.keysInFlight.count }
            return logger.warning("stopped before some outcomes were stored", metadata: ["items": "\(count)"])
        }
        do {
            try await store.releaseLeases(of: owner, now: .now)
        } catch {
            // The leases end by themselves.
            logger.warning("the leases cannot be released", metadata: ["error": "\(error)"])
        }
    }

    /// Performs the state machine's actions until the events end. Returns when every turn has ended.
    private func relayWhatIsDue() async {
        await withDiscardingTaskGroup { turns in
            var alarm = Alarm<UnixMilliseconds>()
            event.yield(.check)
            for await event in events {
                switch event {
                case .relay(let item, let traceparent): turns.addTask { await self.turn(of: item, traceparent) }
                case .claimed(let items):
                    for item in items { turns.addTask { await self.turn(of: item) } }
                case .claimedAgain(let item): turns.addTask { await self.turn(of: item, isLeaseCertain: false) }
                case .check: break
                case .rang(let moment): alarm.rang(moment)
                }
                // Ask until the answer is to wait. Claim and alarm come from the same call: with two calls, a message that
                // becomes due in between would be missed by both.
                while case .claim(let claim) = begin(&alarm) {
                    // On a separate task: turns that need no claim must not wait for a slow claim.
                    turns.addTask { self.event.yield(.claimed(await self.items(for: claim))) }
                }
            }
        }
    }

    private func begin(_ alarm: inout Alarm<UnixMilliseconds>) -> OutboxStateMachine.Action {
        let now = UnixMilliseconds.now
        let action = state.withLock { $0.begin(at: now) }
        if case .wait(let moment) = action, alarm.set(for: moment) {
            Task {
                try await Task.sleep(for: Duration(max(0, moment - now)))
                self.event.yield(.rang(moment))
            }
        }
        return action
    }

    private func items(for claim: Claim) async -> [OutboxItem] {
        do {
            let now = UnixMilliseconds.now
            let leaseTime = leaseClock.withLock { $0.time(wall: now, monotonic: .now) }
            let items = try await store.claim(claim, lease: lease(at: now), now: leaseTime)
            claiming.worked(of: claim.urgency.rawValue)
            return state.withLock { $0.claimed(items, for: claim, at: .now) }
        } catch {
            claiming.failed(error, of: claim.urgency.rawValue)
            state.withLock { $0.claimFailed(claim, at: .now) }
            return []
        }
    }

    /// Relays one item and stores the outcome.
    ///
    /// - Parameter isLeaseCertain: Whether the lease was just taken, so that nothing can have happened to the item.
    private func turn(of item: OutboxItem, _ traceparent: Traceparent? = nil, isLeaseCertain: Bool = true) async {
        let work = ServiceContext.current {
            $0.name(item.key)
            $0.traceparent = traceparent
        }
        let turn = await ServiceContext.withValue(work) { await relayAndRecord(item, isLeaseCertain: isLeaseCertain) }
        let again = state.withLock { $0.finished(turn, of: item, at: .now) }
        event.yield(again.map(Event.claimedAgain) ?? .check)
    }

    private func relayAndRecord(_ item: OutboxItem, isLeaseCertain: Bool) async -> OutboxStateMachine.Turn {
        let expires = item.expires
        let pending = item.record.pendingParts
        guard expires > .now, !pending.isEmpty else {
            await record(item) { $0.expire(at: .now, expires: expires, owner: $1) }
            return .expired
        }
        guard let deadline = await endOfLease(of: item, isCertain: isLeaseCertain) else { return .dropped }
        do {
            let results = try await relay.relay(pending, of: item, by: deadline)
            // The outage is over only after a final outcome. A relay that tries an unreachable FCM does not end it.
            if results.contains(where: \.isFinal) { relayAnswered() }
            return await record(results, of: item)
        } catch {
            // The outbox has stopped. FCM may have the message.
            guard !Task.isCancelled else { return .dropped }
            guard let refusal = DeliveryError(refusal: error) else { return await recordFailure(error, of: item) }
            relayAnswered()
            return await record(pending.map { PartResult(part: $0, result: .failure(refusal)) }, of: item)
        }
    }

    private func relayAnswered() {
        relaying.worked()
        unreachable.withLock { $0 = nil }
    }

    /// Stores that no relay has answered for an item.
    private func recordFailure(_ failure: CommandFailure, of item: OutboxItem) async -> OutboxStateMachine.Turn {
        let expires = item.expires
        guard !failure.isOutcomeUnknown else {
            let schedule = schedule
            await record(item) {
                $0.unanswered(
                    failure.message, to: $1, at: .now, expires: expires, schedule: schedule, random: .random(in: 0...1))
            }
            return .unanswered
        }
        relaying.failed(failure)
        let error = DeliveryError.relayUnreachable(failure)
        unreachable.withLock { $0 = error }
        await record(item, reportsRetry: false) { $0.unreachable(error, to: $1, at: .now, expires: expires) }
        return .unreachable
    }

    /// Ensures that the lease is long enough for one turn, and returns its end.
    ///
    /// A turn may begin long after its claim, if the process was stopped or the database was slow. By then another process may be
    /// relaying the item, or it was recalled. So the lease is checked and renewed in the store.
    ///
    /// - Returns: `nil` if this process no longer owns the message, or the store cannot be asked. The message is claimed
    ///   again when it is due.
    private func endOfLease(of item: OutboxItem, isCertain: Bool) async -> UnixMilliseconds? {
        // If the rest is longer than a lease, the clock was set back, and another process may have shortened the lease.
        let lease = item.record.lease
        if isCertain, let until = lease?.until, (Self.minLease...Lease.duration).contains(until - .now) {
            return until
        }
        let renewed = self.lease(at: .now)
        do {
            let kept = try await store.update(item.key) { record, _ in
                guard lease != nil, record.lease == lease else { throw LeaseLost() }
                record.lease = renewed
                record.nextAttempt = renewed.until
            }
            return kept == nil ? nil : renewed.until
        } catch {
            logger.debug("a turn came too late", metadata: ["error": "\(error)"])
            return nil
        }
    }

    /// Another process has the item.
    private struct LeaseLost: Error {}

    private func record(_ results: [PartResult], of item: OutboxItem) async -> OutboxStateMachine.Turn {
        let schedule = schedule
        let expires = item.expires
        await record(item) {
            $0.answered(results, to: $1, at: .now, expires: expires, schedule: schedule, random: .random(in: 0...1))
        }
        return results.allSatisfy(\.isFinal) ? .settled : .deferred
    }

    /// Stores the outcome of a turn. While the database is unreachable it retries: only this process knows the outcome.
    ///
    /// - Parameters:
    ///   - reportsRetry: Whether the log reports a coming retry.
    ///   - change: Takes the record and this process's name.
    private func record(
        _ item: OutboxItem, reportsRetry: Bool = true,
        _ change: @escaping @Sendable (inout any DeliveryRecord, String) -> Void
    ) async {
        let owner = owner
        while !Task.isCancelled {
            do {
                let updated = try await store.update(item.key) { record, _ in change(&record, owner) }
                if let updated {
                    if reportsRetry || updated.record.nextAttempt == nil { updated.reportState(to: logger) }
                    announcer.announceEnd(of: updated)
                }
                recording.worked(of: item.key.description)
                return
            } catch {
                recording.failed(error, of: item.key.description)
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }

    private func lease(at now: UnixMilliseconds) -> Lease {
        Lease(owner: owner, until: now + Lease.duration)
    }
}

extension MessageStore {
    /// Stores an item durably, unless it is stored already.
    ///
    /// - Returns: The item that is stored under the same keys already, if there is one.
    fileprivate func insert(_ item: OutboxItem) async throws -> OutboxItem? {
        switch item {
        case .message(let message): try await insert(message).map(OutboxItem.message)
        case .push(let push): try await insert(push).map(OutboxItem.push)
        }
    }
}
