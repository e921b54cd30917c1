package import Schemas

extension DeliveryRecord {
    /// The maximum number of recorded interventions. Older ones are removed, except an approval.
    private var maxTrace: Int { 20 }

    /// Records an intervention.
    package mutating func leaveTrace(_ action: Intervention.Action, by actor: String, at moment: UnixMilliseconds) {
        var all = (trace ?? []) + [Intervention(action: action, at: moment, by: actor)]
        while all.count > maxTrace, let oldest = all.firstIndex(where: { $0.action != .approve }) { all.remove(at: oldest) }
        trace = all
    }

    /// Holds what has not ended in restored data. It may have gone out, or been recalled, after the backup was made. So this applies to
    /// scheduled items and to those that wait for an approval as well. It is due when it expires.
    package mutating func holdAfterRestore(by actor: String, at moment: UnixMilliseconds, expires: UnixMilliseconds) {
        guard nextAttempt != nil, !isHeldByRestore else { return }
        state = .held
        lease = nil
        nextAttempt = expires
        leaveTrace(.restore, by: actor, at: moment)
    }
}
