import Schemas

// What people can do to a message on its way, as pure changes of its relay record. Each leaves a trace in it.

extension RelayRecord {
    /// The most interventions that are remembered; older ones go.
    private static let maxTrace = 20

    /// Hands a failed message's failed components out once more, at once.
    ///
    /// - Throws: ``CommandFailure`` with status `conflict` where that is not possible.
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

    /// Takes back a message that has not gone out.
    ///
    /// - Throws: ``CommandFailure`` with status `conflict` where it is too late.
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
