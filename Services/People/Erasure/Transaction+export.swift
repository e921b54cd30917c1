import Base
import Schemas
import Store

extension Transaction {
    /// What this service has of a person, without secrets. It is one page: each part is limited.
    ///
    /// - Throws: ``CommandFailure`` with `not_found` if there is no such account.
    func export(of name: AccountName) throws -> ExportPerson.Reply {
        let account = try account(name)
        let person = try person(of: account)
        return ExportPerson.Reply(files: [
            "person.json": [try JSONValue(encoding: person)],
            "identities.json": try person.identities.map { try JSONValue(encoding: $0) },
            "devices.json": try devices(of: account).map { try JSONValue(encoding: $0.device) },
            "profile.json": [try JSONValue(encoding: profile(of: account))],
            "friends.json": try relations(of: account.id).map { try JSONValue(encoding: $0) },
            "preferences.json": [try JSONValue(encoding: pushPreferences(of: account.id))],
        ])
    }

    /// A person's sides of all friendships, requests and blocks. Whom the person does not find is left out, as in the lists of the app.
    private func relations(of owner: String) throws -> [ExportedRelation] {
        let query = Query(where: PeopleStore.friendshipOwner == owner, order: .ascending(PeopleStore.friendshipOther))
        var found: [ExportedRelation] = []
        var cursor: Cursor?
        repeat {
            let page = try page(of: PeopleStore.friendships, query, after: cursor, limit: 500)
            for side in page.documents.map(\.document) {
                let other = try get(side.other, from: PeopleStore.accounts)?.document
                guard let other, side.state == .blocked || other.isActiveStudent else { continue }
                found.append(ExportedRelation(account: other.name, state: side.state, at: side.at))
            }
            cursor = page.next
        } while cursor != nil
        return found
    }
}

/// What a person is to another one, from the person's side.
private struct ExportedRelation: Encodable {
    let account: AccountName
    let state: Friendship.State
    let at: UnixMilliseconds
}
