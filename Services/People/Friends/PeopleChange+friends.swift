import Bus
import Schemas
import Store

/// What an action of a person about another one has changed.
struct FriendshipChange: Sendable {
    /// Seen by the person who has acted.
    let friendship: Friendship
    /// The other one's name as its account has it.
    let other: AccountName
    /// For those whose side has changed.
    let events: [PersonEvent]
    /// Whether the other one gets a push.
    let hasPush: Bool
}

extension PeopleChange {
    /// Does what the caller asks for about another person, and queues the push about it.
    ///
    /// - Parameter device: The caller's, which gets no push.
    /// - Throws: ``CommandFailure``: `not_found` if the caller does not find the other one, or there is no request to answer; `conflict` at
    ///   a limit.
    func act(
        _ action: Friendship.Action, on other: AccountName, device: ObjectID? = nil, of context: CommandContext
    ) throws -> FriendshipChange {
        let caller = try transaction.callingStudent(of: context)
        guard caller.name != other else { throw CommandFailure(.invalid, "account: expected another person", field: "account") }
        let found = try transaction.findableStudent(other.key)
        guard found != nil || !action.needsOther else { throw action.notFound(other) }
        let mine = try transaction.friendship(of: caller.id, with: other.key)
        let theirs = try transaction.friendship(of: other.key, with: caller.id)
        let before = Friendship(mine: mine?.state, theirs: theirs?.state)
        guard let outcome = before.after(action) else { throw action.notFound(other) }
        let after = outcome.after
        if after.mine != before.mine { try requireRoom(for: after, of: caller.id, with: other.key) }
        _ = try store(after.mine, in: mine, of: caller.id, with: other.key)
        let side = try store(after.theirs, in: theirs, of: other.key, with: caller.id)
        if let notice = outcome.notice, let side, let found { try queue(notice, about: side, to: found, except: device) }
        let name = found?.name ?? other
        return FriendshipChange(
            friendship: after, other: name,
            events: PersonEvent.all(of: caller.name, about: name, before.mine, after.mine)
                + PersonEvent.all(of: name, about: caller.name, before.theirs, after.theirs),
            hasPush: outcome.notice != nil)
    }

    /// - Throws: ``CommandFailure`` with `conflict` if one of the two has too many in the new state. It does not say more about the other
    ///   one.
    private func requireRoom(for after: Friendship, of caller: String, with other: String) throws {
        func isFull(_ owner: String, _ state: Friendship.State, _ max: Int) throws -> Bool {
            try transaction.friendships(of: owner, state, limit: max).count >= max
        }
        let problem: String? =
            switch after.mine {
            case .asked where try isFull(caller, .asked, PersonLimits.maxAsked):
                "you have \(PersonLimits.maxAsked) unanswered requests; take one back first"
            case .friends where try isFull(caller, .friends, PersonLimits.maxFriends):
                "you have \(PersonLimits.maxFriends) friends, and no more are possible"
            case .blocked where try isFull(caller, .blocked, PersonLimits.maxBlocked):
                "you have blocked \(PersonLimits.maxBlocked) persons, and no more are possible"
            // Whether the other one has declined before makes no difference.
            case .asked where try isFull(other, .received, PersonLimits.maxReceived),
                .friends where try isFull(other, .friends, PersonLimits.maxFriends):
                "that is not possible now; try again later"
            default: nil
            }
        if let problem { throw CommandFailure(.conflict, problem, field: "account") }
    }

    /// Changes one side. What waits to be pushed about its earlier state goes nowhere any more.
    private func store(
        _ state: Friendship.State?, in stored: FriendshipDocument?, of owner: String, with other: String
    ) throws -> FriendshipDocument? {
        guard state != stored?.state else { return stored }
        if let stored { try transaction.unqueuePushes(about: [stored.id]) }
        switch (stored, state) {
        case (let stored?, let state?):
            return try transaction.update(stored.id, in: PeopleStore.friendships) { $0.become(state, at: now) }.document
        case (let stored?, nil):
            try transaction.delete(stored.id, from: PeopleStore.friendships)
            return nil
        case (nil, let state?):
            let new = FriendshipDocument(of: owner, with: other, state, at: now)
            return try transaction.insert(new, into: PeopleStore.friendships).document
        case (nil, nil): return nil
        }
    }
}

extension Friendship.Action {
    /// Whether the caller has to find the other one. What a person ends can be ended always.
    fileprivate var needsOther: Bool {
        switch self {
        case .ask, .accept, .block: true
        case .decline, .remove, .unblock: false
        }
    }

    /// The same failure for all reasons, so that it tells nothing about the other one.
    fileprivate func notFound(_ other: AccountName) -> CommandFailure {
        switch self {
        case .accept, .decline: CommandFailure(.notFound, "no request of \(other)")
        case .ask, .remove, .block, .unblock: .noPerson(other)
        }
    }
}

extension CommandFailure {
    /// An unknown person, one who is disabled or no student, and one who has blocked the caller have the same answer.
    static func noPerson(_ name: AccountName) -> CommandFailure { CommandFailure(.notFound, "no person \(name)") }
}

extension PersonEvent {
    /// The events of a person one of whose sides has changed.
    fileprivate static func all(
        of account: AccountName, about other: AccountName, _ before: Friendship.State?, _ after: Friendship.State?
    ) -> [PersonEvent] {
        guard before != after else { return [] }
        let states = [before, after]
        var kinds: [Kind] = []
        if states.contains(.friends) || states.contains(.blocked) { kinds.append(.friends) }
        if states.contains(.asked) || states.contains(.received) { kinds.append(.requests) }
        return kinds.map { PersonEvent(account: account, kind: $0, id: other.description) }
    }
}
