import Schemas
import Store

extension Transaction {
    /// Removes what persons are to each other, the profile, the preferences and the waiting pushes of a person who is erased.
    ///
    /// - Returns: How much of each kind there was.
    func forgetSocial(of account: AccountDocument) throws -> [ErasedData] {
        let person = account.id
        let own = Query(
            where: PeopleStore.friendshipOwner == person, order: .ascending(PeopleStore.friendshipOther))
        let others = Query(where: PeopleStore.friendshipOther == person)
        let pushes = Query(where: PeopleStore.queuedPushAccount == person)
        return [
            ErasedData(what: "queued_pushes", count: try forget(pushes, in: PeopleStore.queuedPushes) { _ in }),
            ErasedData(what: "friendships", count: try forgetSides(own) + forgetSides(others)),
            ErasedData(what: "profile", count: try forget(person, in: PeopleStore.profiles)),
            ErasedData(what: "push_preferences", count: try forget(person, in: PeopleStore.preferences)),
        ]
    }

    /// Pushes to the other ones about these sides go nowhere any more.
    private func forgetSides(_ query: Query<FriendshipDocument>) throws -> Int {
        try forget(query, in: PeopleStore.friendships) { try unqueuePushes(about: $0) }
    }

    private func forget<Document>(_ id: String, in collection: Collection<Document>) throws -> Int where Document.ID == String {
        let isThere = try get(id, from: collection) != nil
        // An unreadable one as well.
        try delete([id], from: collection)
        return isThere ? 1 : 0
    }

    private func forget<Document>(
        _ query: Query<Document>, in collection: Collection<Document>, _ also: ([Document.ID]) throws -> Void
    ) throws -> Int {
        var count = 0
        while case let ids = try page(of: collection, query, limit: 500).documents.map(\.document.id), !ids.isEmpty {
            try also(ids)
            try delete(ids, from: collection)
            count += ids.count
        }
        return count
    }
}
