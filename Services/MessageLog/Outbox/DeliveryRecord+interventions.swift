import Archive
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
        setDue(time.now, expires: expires)
        ended = nil
        leaveTrace(.retry, by: actor, at: time.recorded)
    }

    /// Lets a held message go out.
    ///
    /// - Parameters:
    ///   - sender: The account that posted it.
    ///   - notBefore: The scheduled time; `nil` for at once.
    ///   - seen: The time of the last edit that the actor has seen; 0 for none.
    /// - Throws: ``CommandFailure`` with status `forbidden` for the sender and for those who have edited it, and `conflict` if it is
    ///   not held, or was edited since.
    mutating func approve(
        by actor: String, of sender: String, at time: ChangeTime, notBefore: UnixMilliseconds?, expires: UnixMilliseconds,
        seen: UnixMilliseconds = 0
    ) throws(CommandFailure) {
        // Names of accounts are unique without regard to case.
        guard actor.lowercased() != sender.lowercased() else {
            throw CommandFailure(.forbidden, "another account than the sender must approve it")
        }
        let editors = (trace ?? []).filter { $0.action == .edit }.map { $0.by.lowercased() }
        guard !editors.contains(actor.lowercased()) else {
            throw CommandFailure(.forbidden, "an account that has not edited it must approve it")
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
        try checkSeen(seen)
        state = .pending
        setDue(max(time.now, notBefore ?? time.now), expires: expires)
        lease = nil
        leaveTrace(.approve, by: actor, at: time.recorded)
    }

    /// Lets an item that was restored from a backup go out. A message that still needs an approval keeps waiting for it.
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
            setDue(max(time.now, notBefore ?? time.now), expires: expires)
        }
        // A turn that was to end it as expired must not: the clock may have been set back since its claim.
        lease = nil
        leaveTrace(.release, by: actor, at: time.recorded)
    }

    /// Discards the unsent parts of an item that was restored from a backup, even if FCM has accepted others.
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
    /// - Parameter reason: Why, for the trace.
    /// - Throws: ``CommandFailure`` with status `conflict` if it is too late.
    mutating func recall(by actor: String, at time: ChangeTime, reason: String? = nil) throws(CommandFailure) {
        guard nextAttempt != nil else {
            if state == .recalled { throw CommandFailure(.conflict, "it was recalled already") }
            throw CommandFailure(.conflict, "it cannot be recalled any more; it is \(state.rawValue)")
        }
        if let lease, lease.until > time.now {
            throw CommandFailure.onItsWay
        }
        guard !isBeyondRecall else {
            throw CommandFailure(.conflict, "a part of it has gone out already")
        }
        end(by: actor, at: time, reason: reason)
    }

    private mutating func end(by actor: String, at time: ChangeTime, reason: String? = nil) {
        for index in parts.indices where parts[index].state == .pending {
            parts[index].state = .recalled
        }
        state = .recalled
        nextAttempt = nil
        webpushAttempt = nil
        ended = time.recorded
        lease = nil
        forgetAccounts()
        leaveTrace(.recall, by: actor, at: time.recorded, reason: reason)
    }
}

extension CommandFailure {
    /// A relay has it.
    static let onItsWay = CommandFailure(.conflict, "it is on its way now")
}

/// The edit changes nothing: the message has these texts and this time already.
struct UnchangedMessage: Error {}

extension Message {
    /// Replaces what it says and when it goes out. A message that needs an approval is held until it has one for the new text.
    ///
    /// - Throws: ``CommandFailure`` with status `conflict` if that is impossible, or somebody else has edited it in between;
    ///   ``UnchangedMessage`` if there is nothing to do.
    mutating func edit(_ edit: EditMessage, by actor: String, at time: ChangeTime) throws {
        let new = edit.content.marked
        try checkUnchangeable(in: new)
        try relay.checkEdit(at: time.now, notBefore: notBefore(at: time.now), expires: expires)
        guard edit.expires > time.now else {
            throw CommandFailure(.conflict, "its new expiry has passed", field: "expires")
        }
        let needsApproval = approval == true || edit.approval == true
        let isSame = new == content && edit.names == names && edit.expires == expires && needsApproval == (approval == true)
        guard !isSame else { throw UnchangedMessage() }
        if let seen = edit.edited { try relay.checkSeen(seen) }
        content = new
        names = edit.names
        expires = edit.expires
        if needsApproval {
            approval = true
            relay.state = .held
            relay.hold(until: expires)
        } else {
            // Without a time it goes out now. Otherwise its age would count from the post.
            content.sendAt = content.sendAt ?? time.now
            relay.setDue(max(time.now, notBefore(at: time.now) ?? time.now), expires: expires)
        }
        relay.lease = nil
        relay.leaveTrace(.edit, by: actor, at: time.recorded)
    }

    /// Checks what an edit cannot change: who gets it, how it is relayed, and which message it follows or corrects.
    private func checkUnchangeable(in new: MessageContent) throws(CommandFailure) {
        guard new.topicKey == content.topicKey else {
            throw CommandFailure(.conflict, "expected the topic of the message, \(content.topicKey)", field: "draft.topic_key")
        }
        guard new.distribution == content.distribution else {
            throw CommandFailure(
                .conflict, "expected the distribution of the message, \(content.distribution.rawValue)",
                field: "draft.distribution")
        }
        guard new.follows == content.follows, new.corrects == content.corrects else {
            throw CommandFailure(.conflict, "expected what the message follows or corrects", field: "draft.follows")
        }
    }
}

extension DeliveryRecord {
    /// Checks that it is held for an approval, or scheduled for later without an attempt so far.
    ///
    /// - Parameter notBefore: The scheduled time; `nil` for at once.
    /// - Throws: ``CommandFailure`` with status `conflict`.
    fileprivate func checkEdit(
        at now: UnixMilliseconds, notBefore: UnixMilliseconds?, expires: UnixMilliseconds
    ) throws(CommandFailure) {
        guard nextAttempt != nil else {
            throw CommandFailure(.conflict, "it cannot be edited any more; it is \(state.rawValue)")
        }
        guard !isHeldByRestore else {
            throw CommandFailure(
                .conflict, "it was restored from a backup; the operator must release it first (msi outbox release)")
        }
        if let lease, lease.until > now { throw CommandFailure.onItsWay }
        guard expires > now else { throw CommandFailure(.conflict, "it has expired") }
        guard state != .held else { return }
        guard state == .pending, attempts == 0, lease == nil, let notBefore, notBefore > now, let firstAttempt,
            firstAttempt > now,
            parts.allSatisfy({ $0.state == .pending })
        else {
            throw CommandFailure(.conflict, "it cannot be edited any more: it is due, or a relay has had it")
        }
    }

    /// Checks that nobody has edited it after somebody has read it.
    ///
    /// - Parameter seen: The time of the last edit that the reader has seen; 0 for none.
    /// - Throws: ``CommandFailure`` with status `conflict`.
    func checkSeen(_ seen: UnixMilliseconds) throws(CommandFailure) {
        guard let last = trace?.last(where: { $0.action == .edit }), last.at != seen else { return }
        throw CommandFailure(
            .conflict, "\(last.by) has edited it; read it again, and repeat the request with edited=\(last.at)", field: "edited")
    }
}
