import Bus
import PersonPushes
import Schemas
import Store

extension CommandRouter {
    /// The commands about other persons: to find them, to see them, and to be friends.
    mutating func serveFriends(_ people: People) {
        let looks = LookCounts()
        servePersons(people, looks)
        serveClassmates(people)
        on(ListFriends.self) { _, context in
            try await people.store.snapshot { FriendList(friends: try $0.friends(of: $0.callingStudent(of: context).id)) }
        }
        on(ListFriendRequests.self) { _, context in
            try await people.store.snapshot { transaction in
                let caller = try transaction.callingStudent(of: context).id
                return FriendRequests(
                    received: try transaction.requests(of: caller, .received, limit: PersonLimits.maxReceived),
                    asked: try transaction.requests(of: caller, .asked, limit: PersonLimits.maxAsked))
            }
        }
        on(ListBlocked.self) { _, context in
            try await people.store.snapshot {
                ListBlocked.Reply(blocked: try $0.blocked(by: $0.callingStudent(of: context).id))
            }
        }
        on(AskFriend.self) { command, context in
            try await people.countLook(at: command.account, of: context, looks)
            let change = try await people.act(.ask, on: command.account, device: command.device, of: context)
            return FriendState(account: change.other, state: change.friendship == .friends ? .friends : .asked)
        }
        on(AnswerFriend.self) { command, context in
            _ = try await people.act(command.accept ? .accept : .decline, on: command.account, of: context)
            return Done()
        }
        on(RemoveFriend.self) { command, context in
            _ = try await people.act(.remove, on: command.account, of: context)
            return Done()
        }
        on(BlockPerson.self) { command, context in
            if command.blocked { try await people.countLook(at: command.account, of: context, looks) }
            _ = try await people.act(command.blocked ? .block : .unblock, on: command.account, of: context)
            return Done()
        }
    }
}

extension People {
    /// The field of the failure to store a second document for the same side.
    private static let bothFields = "owner, other"

    /// Does what a person asks for about another one, and tells both.
    fileprivate func act(
        _ action: Friendship.Action, on other: AccountName, device: ObjectID? = nil, of context: CommandContext
    ) async throws -> FriendshipChange {
        let act: @Sendable (inout PeopleChange) throws -> FriendshipChange = { change in
            try change.act(action, on: other, device: device, of: context)
        }
        let change: FriendshipChange
        do {
            change = try await changes.make(by: context, act)
        } catch let failure as CommandFailure where failure.status == .conflict && failure.field == Self.bothFields {
            // Both have acted at the same time, and the other one was first.
            change = try await changes.make(by: context, act)
        }
        personEvents.announce(change.events)
        if change.hasPush { personPushes.wake() }
        return change
    }

    /// Counts a command whose answer says whether there is such a person, unless the caller has a relation to them.
    fileprivate func countLook(at other: AccountName, of context: CommandContext, _ looks: LookCounts) async throws {
        let (caller, side) = try await store.snapshot { transaction in
            let caller = try transaction.callingStudent(of: context).id
            return (caller, try transaction.friendship(of: caller, with: other.key))
        }
        if side == nil { try looks.look(by: caller) }
    }
}
