import Bus
import Schemas
import Store

extension CommandRouter {
    /// The command about the persons of a class, whom the gateway knows from the study service.
    mutating func serveClassmates(_ people: People) {
        on(ListClassmates.self) { command, context in
            try await people.store.snapshot { transaction in
                let caller = try transaction.callingStudent(of: context)
                return ListClassmates.Reply(people: try transaction.classmates(command.accounts, of: caller))
            }
        }
    }
}

extension Friendship {
    /// How this side stands to the other one; `nil` if one of the two does not find the other.
    var relation: PersonView.Relation? {
        if isBlocked { return nil }
        if self == .friends { return .friends }
        return switch mine {
        case .asked: .asked
        case .received: .received
        case .friends, .declined, .blocked, nil: .stranger
        }
    }
}

extension Transaction {
    /// Those of a person's classmates whom the person finds, and who are friends or show a name. Without mutual friends, which
    /// would cost more than all the rest.
    fileprivate func classmates(_ accounts: [AccountName], of caller: AccountDocument) throws -> [PersonView] {
        // All sides at once: a page of classmates is mostly longer than the lists of a person's friends.
        let own = Query(
            where: PeopleStore.friendshipOwner == caller.id, order: .ascending(PeopleStore.friendshipOther))
        let mine = Dictionary(try sides(own).map { ($0.other, $0.state) }) { first, _ in first }
        let others = Query(where: PeopleStore.friendshipOther == caller.id)
        let theirs = Dictionary(try sides(others).map { ($0.owner, $0.state) }) { first, _ in first }
        return try accounts.compactMap { other -> PersonView? in
            let friendship = Friendship(mine: mine[other.key], theirs: theirs[other.key])
            guard other != caller.name, let relation = friendship.relation, let account = try findableStudent(other.key) else {
                return nil
            }
            let view = PersonView(account.name, relation, try profile(of: account), isClassmate: true)
            return relation == .friends || view.firstName != nil || view.lastName != nil ? view : nil
        }
    }

    private func sides(_ query: Query<FriendshipDocument>) throws -> [FriendshipDocument] {
        var found: [FriendshipDocument] = []
        var cursor: Cursor?
        repeat {
            let page = try page(of: PeopleStore.friendships, query, after: cursor, limit: 500)
            found += page.documents.map(\.document)
            cursor = page.next
        } while cursor != nil
        return found
    }
}
