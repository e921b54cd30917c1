import MessageStorage
import Schemas

/// A lease of this process that may be stored although the operation failed. No task of the process handles its items, so without
/// a release they would wait until it ends.
struct DoubtfulLease: Hashable, Sendable {
    /// Which items may have the lease.
    enum Scope: Hashable, Sendable {
        /// The items of a claim. Claims of one urgency never run at the same time, so the urgency and the lease identify the claim.
        case claim(Urgency)
        /// The item of an insert or a turn.
        case item(OutboxKey)
    }

    let lease: Lease
    let scope: Scope
}

extension OutboxItem {
    /// Whether the item has one of the leases.
    func hasLease(of leases: Set<DoubtfulLease>) -> Bool {
        guard let lease = record.lease else { return false }
        let scopes: [DoubtfulLease.Scope] = [.item(key), .claim(urgency)]
        return scopes.contains { leases.contains(DoubtfulLease(lease: lease, scope: $0)) }
    }
}
