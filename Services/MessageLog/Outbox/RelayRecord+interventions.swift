import Schemas

// Interventions by people, as pure changes of a message's relay record. Each is recorded in its trace.

extension RelayRecord {
    /// The maximum number of recorded interventions. Older ones are removed.
    private static let maxTrace = 20

    /// Makes a failed message's failed components due again at once.
    ///
    /// - Throws: ``CommandFailure`` with status `conflict` if that is impossible.
    mutating func retry(by actor: String, at now: UnixMilliseconds, expires: UnixMilliseconds) throws(CommandFailure) {
        guard state == .failed else {
            throw CommandFailure(.conflict, "only a failed message can be tried again; this one is \(state.rawValue)")
        }
        guard expires > now else {
            throw CommandFailure(.conflict, "the message has expired meanwhile, and is not worth delivering any more")
        }
        for index in components.indices where components[index].state == .failed {
            components[index].state = .pending
        }
        state = .retrying
        nextAttempt = now
        ended = nil
        leaveTrace(.retry, by: actor, at: now)
    }

    /// Recalls a message that has not gone out.
    ///
    /// - Throws: ``CommandFailure`` with status `conflict` if it is too late.
    mutating func recall(by actor: String, at now: UnixMilliseconds) throws(CommandFailure) {
        guard nextAttempt != nil else {
            throw CommandFailure(.conflict, "the message cannot be recalled any more; it is \(state.rawValue)")
        }
        if let lease, lease.until > now {
            throw CommandFailure(.conflict, "the message is on its way to FCM this moment")
        }
        guard !components.contains(where: { $0.state == .accepted }) else {
            throw CommandFailure(.conflict, "a part of the message has gone out already")
        }
        for index in components.indices where components[index].state == .pending {
            components[index].state = .recalled
        }
        state = .recalled
        nextAttempt = nil
        ended = now
        lease = nil
        leaveTrace(.recall, by: actor, at: now)
    }

    private mutating func leaveTrace(_ action: Intervention.Action, by actor: String, at now: UnixMilliseconds) {
        let all = (trace ?? []) + [Intervention(action: action, at: now, by: actor)]
        trace = Array(all.suffix(Self.maxTrace))
    }
}
