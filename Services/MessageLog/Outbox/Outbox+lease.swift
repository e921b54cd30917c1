import Archive
import Base
import Logging
import Schemas
import ServiceKit

/// The lease of a turn.
extension Outbox {
    /// A turn begins only if its lease still lasts this long.
    private static let minLease = Milliseconds(DeliveryTimes.minLease)
    /// How often a turn renews its lease. A renewal that the store makes slowly leaves too little of the new lease.
    private static let maxRenewals = 2

    /// Ensures that the lease is long enough for one turn.
    ///
    /// A turn may begin long after its claim, if the process was stopped or the database was slow. By then another process may be
    /// relaying the item, or it was recalled. So the lease is checked and renewed in the store.
    ///
    /// - Returns: The item as it is stored, and the end of its lease; `nil` if this process no longer owns the message, or the store
    ///   cannot be asked. The message is claimed again when it is due. If this process still owns it, the lease is released.
    func withLease(_ item: OutboxItem, isCertain: Bool) async -> (item: OutboxItem, end: UnixMilliseconds)? {
        var lease = item.record.lease
        if isCertain, let until = lease?.until, Self.isLongEnough(until) { return (item, until) }
        for _ in 1...Self.maxRenewals {
            let (held, renewed) = (lease, self.lease(at: .now))
            guard let kept = await renewLease(of: item.key, from: held, to: renewed) else { return nil }
            if Self.isLongEnough(renewed.until) { return (kept, renewed.until) }
            lease = renewed
        }
        logger.debug("a turn came too late: the renewals took too long")
        if let lease { releaseIfStored(lease, of: .item(item.key)) }
        return nil
    }

    /// Renews a lease in the store, and changes the record in the same write.
    ///
    /// - Returns: The item as it is stored; `nil` if this process no longer owns the item, or the store cannot be asked. If this process
    ///   still owns it, the lease is released.
    func renewLease(
        of key: OutboxKey, from held: Lease?, to renewed: Lease,
        _ change: @escaping @Sendable (inout any DeliveryRecord) -> Void = { _ in }
    ) async -> OutboxItem? {
        do {
            return try await store.update(key) { record, _ in
                guard held != nil, record.lease == held else { throw LeaseLost(stored: record.lease) }
                record.extendLease(to: renewed)
                change(&record)
            }
        } catch {
            logger.debug("a turn came too late", metadata: ["error": "\(error)"])
            // Another process may have shortened this process's lease after a step of the clock, or this process to erase a person. A later
            // end is that of a claim whose answer has not come yet.
            let doubtful = (error as? LeaseLost).map { [$0.isShorter(than: held) ? $0.stored : nil] } ?? [held, renewed]
            for lease in doubtful.compactMap(\.self) where lease.owner == owner { releaseIfStored(lease, of: .item(key)) }
            return nil
        }
    }

    private static func isLongEnough(_ until: UnixMilliseconds) -> Bool {
        // If the rest is longer than a lease can have, the clock was set back, and another process may have shortened the lease.
        (minLease...Lease.maxRest).contains(until - .now)
    }

    /// The item has another lease than at its claim, or none.
    private struct LeaseLost: Error {
        let stored: Lease?

        func isShorter(than held: Lease?) -> Bool {
            guard let stored, let held else { return false }
            return stored.until < held.until
        }
    }
}
