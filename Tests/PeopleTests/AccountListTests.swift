import Bus
import Schemas
import TestSupport
import Testing

@testable import People

extension PeopleServiceTests {
    @Suite("Lists of accounts over the bus")
    struct AccountListTests {
        @Test(
            "Without a filter the list has the staff alone, page by page, in the order of the names",
            arguments: StoreKind.allCases)
        func staff(kind: StoreKind) async throws {
            try await RunningPeople.withAdmin(kind) { people in
                for name in ["zoe", "Bob", "carl"] as [AccountName] { try await people.add(name) }
                try await people.add("adam", role: .superUser)
                for name in ["aaron", "bea", "zz"] as [AccountName] { try await people.add(name, role: .student) }
                _ = try await people.client.request(RemoveAccount("carl"))
                for limit in [1, 2, 3, 4, 200] {
                    #expect(try await people.list(limit) == ["adam", "admin", "bob", "zoe"], "by \(limit)")
                }
                let foreign = await people.client.failure(of: ListAccounts(limit: 2, after: "?", role: .student))
                #expect(foreign?.status == .invalid && foreign?.field == "after")
            }
        }

        @Test("A list has a role, or the names that begin with a text in any case, or both", arguments: StoreKind.ofRules)
        func filters(kind: StoreKind) async throws {
            try await RunningPeople.withAdmin(kind) { people in
                for name in ["Ann", "ann.lee", "anna", "an", "ben"] as [AccountName] {
                    try await people.add(name, role: .student)
                }
                for name in ["annette", "ann-old"] as [AccountName] { try await people.add(name) }
                _ = try await people.client.request(RemoveAccount("ann-old"))
                for limit in [1, 2, 5, 200] {
                    #expect(try await people.list(limit, role: .student) == ["an", "ann", "ann.lee", "anna", "ben"])
                    #expect(try await people.list(limit, text: "ANN") == ["ann", "ann.lee", "anna", "annette"])
                    #expect(try await people.list(limit, role: .student, text: "ann") == ["ann", "ann.lee", "anna"])
                    #expect(try await people.list(limit, role: .communicator, text: "ann") == ["annette"])
                    #expect(try await people.list(limit, text: "ann.lee") == ["ann.lee"])
                    #expect(try await people.list(limit, text: "ann-old").isEmpty)
                    #expect(try await people.list(limit, text: "zé").isEmpty)
                }
            }
        }
    }
}

extension RunningPeople {
    /// All pages of a list.
    fileprivate func list(_ limit: Int, role: Role? = nil, text: String? = nil) async throws -> [AccountName] {
        var names: [AccountName] = []
        var after: String?
        repeat {
            let page = try await client.request(ListAccounts(limit: limit, after: after, role: role, text: text))
            #expect(page.accounts.count <= limit && (page.next == nil || page.accounts.count == limit))
            names += page.accounts.map(\.account)
            after = page.next
        } while after != nil
        return names
    }
}
