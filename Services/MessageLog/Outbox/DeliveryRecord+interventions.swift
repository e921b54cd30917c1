import Schemas

// Interventions by people, as pure changes of the record of a message or a push. Each is recorded in its trace.

extension DeliveryRecord {
    /// The maximum number of recorded interventions. Older ones are removed.
    private var maxTrace: Int { 20 }

    /// Makes the failed parts due again at once.
    ///
    /// - Throws: ``CommandFailure`` with status `conflict` if that is impossible.
    mutating func retry(by actor: String, at now: UnixMilliseconds, expires: UnixMilliseconds) throws(CommandFailure) {
        guard state == .failed else {
            throw CommandFailure(.conflict, "only a failed message or push can be tried again; this one is \(state.rawValue)")
        }
        guard expires > now else {
            throw CommandFailure(.conflict, "it has expired meanwhile")
        }
        for index in parts.indices where parts[index].state == .failed {
            parts[index].state = .pending
        }
        state = .retrying
        nextAttempt = now
        ended = nil
        leaveTrace(.retry, by: actor, at: now)
    }

    /// Recalls a message or a push that has not gone out.
    ///
    /// - Throws: ``CommandFailure`` with status `conflict` if it is too late.
    mutating func recall(by actor: String, at now: UnixMilliseconds) throws(CommandFailure) {
        guard nextAttempt != nil else {
            throw CommandFailure(.conflict, "it cannot be recalled any more; it is \(state.rawValue)")
        }
        if let lease, lease.until > now {
            throw CommandFailure(.conflict, "it is on its way to FCM now")
        }
        guard !parts.contains(where: { $0.state == .accepted }) else {
            throw CommandFailure(.conflict, "FCM has accepted a part of it already")
        }
        for index in parts.indices where parts[index].state == .pending {
            parts[index].state = .recalled
        }
        state = .recalled
        nextAttempt = nil
        ended = now
        lease = nil
        leaveTrace(.recall, by: actor, at: now)
    }

    private mutating func leaveTrace(_ action: Intervention.Action, by actor: String, at now: UnixMilliseconds) {
        let all = (trace ?? []) + [Intervention(action: action, at: now, by: actor)]
        trace = Array(all.suffix(maxTrace))
    }
}
