import Bus
import Schemas
import Store

extension Transaction {
    /// The account of a student who makes a request about others.
    ///
    /// - Throws: ``CommandFailure``: `unauthenticated` as ``caller(_:)``; `forbidden` for an account of the staff.
    func callingStudent(of context: CommandContext) throws -> AccountDocument {
        let account = try caller(context.requirePerson())
        guard account.isActiveStudent else { throw CommandFailure(.forbidden, "\(context.command) is for students") }
        return account
    }

    /// The account of a student whom others may find; `nil` if there is none.
    ///
    /// - Parameter key: The name in lower case.
    func findableStudent(_ key: String) throws -> AccountDocument? {
        guard let account = try get(key, from: PeopleStore.accounts)?.document, account.isActiveStudent else { return nil }
        return account
    }

    /// One side of what two persons are to each other; `nil` for nothing.
    func friendship(of owner: String, with other: String) throws -> FriendshipDocument? {
        let query = Query(where: PeopleStore.friendshipOwner == owner, PeopleStore.friendshipOther == other)
        return try page(of: PeopleStore.friendships, query, limit: 1).documents.first?.document
    }

    /// What two persons are to each other.
    func friendship(of one: AccountDocument, with other: String) throws -> Friendship {
        Friendship(
            mine: try friendship(of: one.id, with: other)?.state, theirs: try friendship(of: other, with: one.id)?.state)
    }

    /// A person's sides in one state, in the order of the other ones' names.
    func friendships(of owner: String, _ state: Friendship.State, limit: Int) throws -> [FriendshipDocument] {
        let query = Query(
            where: PeopleStore.friendshipOwner == owner, PeopleStore.friendshipState == state,
            order: .ascending(PeopleStore.friendshipOther))
        return try page(of: PeopleStore.friendships, query, limit: limit).documents.map(\.document)
    }

    /// A person's friends whom others may find.
    func friends(of owner: String) throws -> [AccountName] {
        try friendships(of: owner, .friends, limit: PersonLimits.maxFriends).compactMap { try findableStudent($0.other)?.name }
    }

    /// A person's unanswered requests, of one or the other side, the newest first. Those of persons who are not found are left out.
    func requests(of owner: String, _ state: Friendship.State, limit: Int) throws -> [FriendRequests.Request] {
        try friendships(of: owner, state, limit: limit).sorted { $0.at > $1.at }.compactMap { side in
            try findableStudent(side.other).map { FriendRequests.Request(account: $0.name, at: side.at) }
        }
    }

    /// Whom a person has blocked, disabled ones as well.
    func blocked(by owner: String) throws -> [AccountName] {
        try friendships(of: owner, .blocked, limit: PersonLimits.maxBlocked).compactMap {
            try get($0.other, from: PeopleStore.accounts)?.document.name
        }
    }

    /// The friends of both.
    func mutualFriends(of one: String, and other: String) throws -> [AccountName] {
        let ones = try friendships(of: one, .friends, limit: PersonLimits.maxFriends).map(\.other)
        let others = Set(try friendships(of: other, .friends, limit: PersonLimits.maxFriends).map(\.other))
        return try ones.filter(others.contains).compactMap { try findableStudent($0)?.name }
    }
}
