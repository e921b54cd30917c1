import Bus
import Logging
import Archive
import Schemas
import ServiceContextModule
import ServiceKit
import ServiceLifecycle
import Synchronization
import Base

/// Releases the leases of this instance's earlier processes. A predecessor that is still running is finishing, so it keeps its
/// messages until it has ended.
struct LeaseRecovery: Service {
    /// The interval of checks for the end of a predecessor.
    private static let period = Duration.milliseconds(200)
    private static let pauseAfterFailure = Duration.seconds(1)

    private let store: any MessageStore
    private let process: ProcessIdentity
    private let logger: Logger

    init(store: any MessageStore, process: ProcessIdentity, logger: Logger) {
        self.store = store
        self.process = process
        self.logger = logger
    }

    func run() async throws {
        let outage = OutageLog("the leases of the last run cannot be released yet", logger: logger)
        // The next process releases the rest.
        await RepeatingService(
            every: Self.period, retries: .constant(Self.pauseAfterFailure), outage: outage, from: 0
        ) { waitsFor in
            let running = try await process.forEachEndedProcess { owner in
                try await store.releaseLeases(of: owner, now: .now)
            }
            if running > 0, waitsFor == 0 {
                logger.notice(
                    "a process of this instance is still finishing; its messages are left to it",
                    metadata: ["processes": "\(running)"])
            } else if running == 0, waitsFor > 0 {
                logger.notice("the process that was finishing has ended")
            }
            waitsFor = running
            return running > 0 ? .periodic : .never
        }.run()
    }
}

/// A lease of this process that may be stored although the operation failed. No task of the process handles its items, so without
/// a release they would wait until it ends.
struct OrphanedLease: Hashable, Sendable {
    /// Which items may have the lease.
    enum Scope: Hashable, Sendable {
        /// The items of a claim. Claims of one urgency never run at the same time, of whatever queue, so the urgency and the lease identify
        /// the claim.
        case claim(Urgency)
        /// The item of an insert or a turn.
        case item(OutboxKey)
    }

    let lease: Lease
    let scope: Scope
}

extension OutboxItem {
    /// Whether the item has one of the leases.
    func hasLease(of leases: Set<OrphanedLease>) -> Bool {
        guard let lease = record.lease else { return false }
        let scopes: [OrphanedLease.Scope] = [.item(key), .claim(urgency)]
        return scopes.contains { leases.contains(OrphanedLease(lease: lease, scope: $0)) }
    }
}

/// The orphaned leases of a process, each until its end. Pure.
struct OrphanedLeases: Sendable {
    /// While there are this many, no other is added. Those end by themselves.
    private static let maxCount = 10_000

    private var leases: Set<OrphanedLease> = []
    /// Whether a task is releasing them.
    private var isTaskRunning = false

    /// - Returns: Whether the caller must start the task that releases them.
    mutating func add(_ lease: OrphanedLease) -> Bool {
        if leases.count < Self.maxCount { leases.insert(lease) }
        defer { isTaskRunning = true }
        return !isTaskRunning
    }

    /// Forgets the leases that have ended.
    ///
    /// - Returns: The others; `nil` if there are none. Then the task must end.
    mutating func remaining(at now: UnixMilliseconds) -> Set<OrphanedLease>? {
        // If the rest is longer than a lease can have, the clock was set back.
        leases = leases.filter { $0.lease.until > now && $0.lease.until <= now + Lease.maxRest }
        isTaskRunning = !leases.isEmpty
        return isTaskRunning ? leases : nil
    }
}

/// Releases leases that were stored by an operation that failed. A slow or unreachable database may apply a claim, an insert or an
/// update after the outbox has its error.
extension Outbox {
    /// Releases a lease if it is stored.
    ///
    /// The task runs only while there are orphaned leases, so this costs nothing while the database works. It does not touch
    /// items in flight.
    func releaseIfStored(_ lease: Lease, of scope: OrphanedLease.Scope) {
        event.yield(.orphaned(OrphanedLease(lease: lease, scope: scope)))
    }

    /// Releases the orphaned leases until each has ended: the database may apply an operation late. Returns early at a shutdown,
    /// since the outbox then releases all its leases.
    func releaseOrphanedLeases() async {
        try? await cancelWhenGracefulShutdown {
            var backoff = Backoff(first: .milliseconds(500), max: .seconds(2))
            while true {
                try await Task.sleep(for: backoff.failed())
                guard let leases = self.orphanedLeases.withLock({ $0.remaining(at: .now) }) else { return }
                try await self.releaseStored(leases)
            }
        }
    }

    /// - Throws: Only `CancellationError`.
    private func releaseStored(_ leases: Set<OrphanedLease>) async throws {
        do {
            let now = UnixMilliseconds.now
            let found = try await store.waiting(after: now, until: now + Lease.maxRest) { $0.hasLease(of: leases) }
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
            logger.debug("orphaned leases cannot be released yet", metadata: ["error": "\(error)"])
        }
    }

    /// The item has another lease by now, or none.
    private struct HasChanged: Error {}

    /// - Returns: The item's urgency if it is due now; `nil` if it no longer has one of the leases.
    private func release(_ key: OutboxKey, from leases: Set<OrphanedLease>) async throws -> Urgency? {
        do {
            let item = try await store.update(key) { record, item in
                guard item.hasLease(of: leases) else { throw HasChanged() }
                record.releaseLease(at: .now)
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
