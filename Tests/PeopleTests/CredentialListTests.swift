import Bus
import Schemas
import TestSupport
import Testing

@testable import People

extension PeopleServiceTests {
    /// What holders of copies of credentials ask for.
    @Suite("Copies of credentials over the bus")
    struct CredentialListTests {
        @Test("The list has every valid sign-in and token once, page by page", arguments: StoreKind.allCases)
        func list(kind: StoreKind) async throws {
            try await RunningPeople.withAdmin(kind) { people in
                let client = people.client
                var valid: Set<CredentialHash> = [RunningPeople.operatorHash]
                try await people.add("ann")
                for _ in 0..<2 { valid.insert(try await people.signIn("ann").hash) }
                let token = try await client.request(AddToken(name: "script", account: "ann", rights: [.send]))
                valid.insert(token.secret.credentialHash)
                try await people.add("bob")
                _ = try await people.signIn("bob")
                _ = try await client.request(UpdateAccount("bob", disabled: true))
                for limit in [1, 2, 200] {
                    let listed = try await people.list(limit)
                    #expect(Set(listed.map(\.hash)) == valid && listed.count == valid.count)
                    for entry in listed { #expect(try await people.credential(entry.hash) == entry.credential) }
                }
                let refused = try #require(await client.failure(of: ListCredentials(limit: 10, after: "token.?")))
                #expect(refused.status == .invalid && refused.field == "after")
            }
        }

        @Test("The event of a change says what has changed, and so do its repetitions")
        func event() async throws {
            try await RunningPeople.withAdmin(.sqlite) { people in
                try await people.add("ann")
                let events = try await people.listen()
                let signIn = try await people.signIn("ann")
                let new = CredentialChange(of: signIn.hash)
                var found = 0
                for await event in events where event.sequence == signIn.credential.sequence {
                    #expect(event.changes.last == new && event.all == nil)
                    #expect(event.sequence - event.after == Int64(event.changes.count))
                    found += 1
                    if found == 2 { break }
                }
                #expect(try await people.changes(after: signIn.credential.sequence - 1).changes == [new])
            }
        }
    }
}

extension RunningPeople {
    fileprivate func list(_ limit: Int) async throws -> [HashedCredential] {
        var all: [HashedCredential] = []
        var next: String?
        repeat {
            let page = try await client.request(ListCredentials(limit: limit, after: next))
            #expect(page.credentials.count <= limit)
            all += page.credentials
            next = page.next
        } while next != nil
        return all
    }
}
