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
/// (``LeaseRecovery``). If an operation fails and its lease is stored nevertheless, the lease is released (``DoubtfulLease``).
final class Outbox: Service {
    enum Event: Sendable {
        /// A new item, and the trace of its request.
        case relay(OutboxItem, Traceparent?)
        case claimed([OutboxItem])
        /// An item from a claim whose previous turn was just ending.
        case claimedAgain(OutboxItem)
        /// An item may have become due, or there may be room again.
        case check
        /// The alarm for this time has gone off.
        case rang(UnixMilliseconds)
        /// An operation has failed, and its lease may be stored.
        case doubtful(DoubtfulLease)
    }

    let store: any MessageStore
    let relay: any Relay
    let owner: String
    let schedule = RetrySchedule()
    let announcer: PushAnnouncer
    let logger: Logger
    let relaying: OutageLog
    let claiming: OutageLog
    let recording: OutageLog
    let state: Mutex<OutboxStateMachine>
    let leaseClock = Mutex(LeaseClock(wall: .now, monotonic: .now))
    let doubtfulLeases = Mutex(DoubtfulLeases())
    /// Why no relay accepts messages; `nil` while one does.
    let unreachable = Mutex<DeliveryError?>(nil)
    let events: AsyncStream<Event>
    let event: AsyncStream<Event>.Continuation

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
            releaseIfStored(lease, of: .item(item.key))
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

    func claimSoon(for urgency: Urgency) {
        state.withLock { $0.becameDue(urgency, at: .now) }
        event.yield(.check)
    }

    func lease(at now: UnixMilliseconds) -> Lease {
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
