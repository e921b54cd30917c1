import MessageStorage
import Schemas

// Interventions by people, as pure changes of the record of a message or a push. Each is recorded in its trace.

extension DeliveryRecord {
    /// Makes the failed parts due again at once.
    ///
    /// - Throws: ``CommandFailure`` with status `conflict` if that is impossible.
    mutating func retry(by actor: String, at time: ChangeTime, expires: UnixMilliseconds) throws(CommandFailure) {
        guard state == .failed else {
            throw CommandFailure(.conflict, "only a failed message or push can be tried again; this one is \(state.rawValue)")
        }
        guard expires > time.now else {
            throw CommandFailure(.conflict, "it has expired meanwhile")
        }
        for index in parts.indices where parts[index].state == .failed {
            parts[index].state = .pending
        }
        state = .retrying
        nextAttempt = time.now
        ended = nil
        leaveTrace(.retry, by: actor, at: time.recorded)
    }

    /// Lets a held message go out.
    ///
    /// - Parameters:
    ///   - sender: The account that posted it.
    ///   - notBefore: The scheduled time; `nil` for at once.
    /// - Throws: ``CommandFailure`` with status `forbidden` for the sender, and `conflict` if it is not held.
    mutating func approve(
        by actor: String, of sender: String, at time: ChangeTime, notBefore: UnixMilliseconds?, expires: UnixMilliseconds
    ) throws(CommandFailure) {
        // Names of accounts are unique without regard to case.
        guard actor.lowercased() != sender.lowercased() else {
            throw CommandFailure(.forbidden, "another account than the sender must approve it")
        }
        guard state == .held else {
            throw CommandFailure(.conflict, "only a held message can be approved; this one is \(state.rawValue)")
        }
        guard !isHeldByRestore else {
            throw CommandFailure(
                .conflict, "it was restored from a backup; the operator must release it first (msi outbox release)")
        }
        guard expires > time.now else {
            throw CommandFailure(.conflict, "it has expired meanwhile")
        }
        state = .pending
        nextAttempt = max(time.now, notBefore ?? time.now)
        lease = nil
        leaveTrace(.approve, by: actor, at: time.recorded)
    }

    /// Lets an item that was restored from a backup go out. A message that still needs an approval goes on waiting for it.
    ///
    /// - Parameters:
    ///   - notBefore: The scheduled time; `nil` for at once.
    ///   - needsApproval: Whether it needs an approval and has none.
    /// - Throws: ``CommandFailure`` with status `conflict` if it is not held since a restore.
    mutating func release(
        by actor: String, at time: ChangeTime, notBefore: UnixMilliseconds?, needsApproval: Bool, expires: UnixMilliseconds
    ) throws(CommandFailure) {
        try requireHeldByRestore()
        guard expires > time.now else {
            throw CommandFailure(.conflict, "it has expired meanwhile")
        }
        if !needsApproval {
            state = attempts > 0 ? .retrying : .pending
            nextAttempt = max(time.now, notBefore ?? time.now)
        }
        leaveTrace(.release, by: actor, at: time.recorded)
    }

    /// Withdraws what is left of an item that was restored from a backup, also if FCM has accepted a part of it.
    ///
    /// - Throws: ``CommandFailure`` with status `conflict` if it is not held since a restore.
    mutating func discard(by actor: String, at time: ChangeTime) throws(CommandFailure) {
        try requireHeldByRestore()
        end(by: actor, at: time)
    }

    private func requireHeldByRestore() throws(CommandFailure) {
        guard isHeldByRestore else {
            throw CommandFailure(.conflict, "it is not held since a restore; it is \(state.rawValue)")
        }
    }

    /// Recalls a message or a push that has not gone out.
    ///
    /// - Throws: ``CommandFailure`` with status `conflict` if it is too late.
    mutating func recall(by actor: String, at time: ChangeTime) throws(CommandFailure) {
        guard nextAttempt != nil else {
            if state == .recalled { throw CommandFailure(.conflict, "it was recalled already") }
            throw CommandFailure(.conflict, "it cannot be recalled any more; it is \(state.rawValue)")
        }
        if let lease, lease.until > time.now {
            throw CommandFailure.onItsWay
        }
        guard !parts.contains(where: { $0.state == .accepted }) else {
            throw CommandFailure(.conflict, "FCM has accepted a part of it already")
        }
        end(by: actor, at: time)
    }

    private mutating func end(by actor: String, at time: ChangeTime) {
        for index in parts.indices where parts[index].state == .pending {
            parts[index].state = .recalled
        }
        state = .recalled
        nextAttempt = nil
        ended = time.recorded
        lease = nil
        leaveTrace(.recall, by: actor, at: time.recorded)
    }
}

extension CommandFailure {
    /// A relay has it.
    static let onItsWay = CommandFailure(.conflict, "it is on its way to FCM now")
}
