import CommandBus
import Logging
import MessageStorage
import Schemas
import ServiceContextModule
import ServiceKit
import ServiceLifecycle
import Synchronization
import Time

/// Releases leases that were stored by an operation that failed. A slow or unreachable database may apply a claim, an insert or an
/// update after the outbox has its error.
extension Outbox {
    /// Releases a lease if it is stored.
    ///
    /// The task runs only while there are doubtful leases, so this costs nothing while the database works. It does not touch
    /// items in flight.
    func releaseIfStored(_ lease: Lease, of scope: DoubtfulLease.Scope) {
        event.yield(.doubtful(DoubtfulLease(lease: lease, scope: scope)))
    }

    /// Releases the doubtful leases until each has ended: the database may apply an operation late. Returns early at a shutdown,
    /// since the outbox then releases all its leases.
    func releaseDoubtfulLeases() async {
        try? await cancelWhenGracefulShutdown {
            var backoff = Backoff(first: .milliseconds(500), max: .seconds(2))
            while true {
                try await Task.sleep(for: backoff.failed())
                guard let leases = self.doubtfulLeases.withLock({ $0.remaining(at: .now) }) else { return }
                try await self.releaseStored(leases)
            }
        }
    }

    /// - Throws: Only `CancellationError`.
    private func releaseStored(_ leases: Set<DoubtfulLease>) async throws {
        do {
            let now = UnixMilliseconds.now
            let found = try await store.waiting(after: now, until: now + Lease.duration) { $0.hasLease(of: leases) }
            // After the search: an item that is no longer in flight no longer has the lease that was found.
            let inFlight = state.withLock(\.keysInFlight)
            let released = try await withThrowingTaskGroup(of: Urgency?.self) { group in
                for key in found where !inFlight.contains(key) { group.addTask { try await self.release(key, from: leases) } }
                return try await group.reduce(into: Set()) { urgencies, urgency in
                    if let urgency { urgencies.insert(urgency) }
                }
            }
            for urgency in released { claimSoon(for: urgency) }
        } catch let error where !(error is CancellationError) {
            logger.debug("doubtful leases cannot be released yet", metadata: ["error": "\(error)"])
        }
    }

    /// The item has another lease by now, or none.
    private struct HasChanged: Error {}

    /// - Returns: The item's urgency if it is due now; `nil` if it no longer has one of the leases.
    private func release(_ key: OutboxKey, from leases: Set<DoubtfulLease>) async throws -> Urgency? {
        do {
            let item = try await store.update(key) { record, item in
                guard item.hasLease(of: leases) else { throw HasChanged() }
                record.lease = nil
                record.nextAttempt = .now
            }
            guard let item else { return nil }
            ServiceContext.withValue(ServiceContext.current { $0.name(key) }) {
                logger.info("due again: it was leased by an operation that had failed")
            }
            return item.urgency
        } catch is HasChanged {
            return nil
        }
    }
}
