import AuditTrail
import Bus
import Schemas
import TestSupport
import Testing

/// The audit log of the people service over the bus, in both databases.
@Suite("Audit log", .timeLimit(.minutes(10)))
struct AuditLogTests {
    @Test("Entries are numbered, and adding one again changes nothing, even after a restart", arguments: StoreKind.allCases)
    func idempotent(_ kind: StoreKind) async throws {
        try await AuditLog.with(kind) { log in
            let entries = (0..<5).map { AuditEntry.sample("change.\($0)") }
            try await log.withPeople { _ in
                _ = try await log.client.request(AddAuditEntries(entries: Array(entries.prefix(3))))
                _ = try await log.client.request(AddAuditEntries(entries: Array(entries.prefix(3)) + [entries[0]]))
            }
            try await log.withPeople { people in
                _ = try await log.client.request(AddAuditEntries(entries: entries))
                let links = try await log.links(page: 2)
                #expect(links.map(\.id) == [1, 2, 3, 4, 5])
                #expect(links.compactMap(\.content) == entries)
                #expect(people.log.contains("3:\(links[2].hash)"), "the newest hash is logged at the start")
                try await log.expectWhole()
            }
        }
    }

    @Test("Several instances on one MongoDB append to one chain")
    func severalInstances() async throws {
        try await AuditLog.with(.mongodb, instances: ["people", "people-2"]) { log in
            try await log.withPeople { _ in
                try await log.withPeople(named: "people-2") { _ in
                    let shared = (0..<40).map { AuditEntry.sample("shared.\($0)") }
                    try await withThrowingTaskGroup { group in
                        for number in 0..<8 {
                            group.addTask {
                                let own = (0..<20).map { AuditEntry.sample("own.\(number).\($0)") }
                                for start in stride(from: 0, to: 20, by: 5) {
                                    let some = Array(own[start..<start + 5]) + shared.shuffled().prefix(5)
                                    try await log.add(some)
                                }
                            }
                        }
                        try await group.waitForAll()
                    }
                    _ = try await log.client.request(AddAuditEntries(entries: shared))
                    #expect(try await log.links().count == 200)
                    try await log.expectWhole()
                }
            }
        }
    }

    @Test(
        "A search filters by account, action, object and time, and pages neither repeat nor miss an entry",
        arguments: StoreKind.allCases)
    func search(_ kind: StoreKind) async throws {
        try await AuditLog.with(kind) { log in
            try await log.withPeople { _ in
                let entries = (0..<60).map { number in
                    AuditEntry.sample(
                        "change.\(number % 3)", actor: ["Ann", "bob"][number % 2], object: "Thing-\(number % 5)",
                        at: UnixMilliseconds(rawValue: 1_000 + Int64(number)))
                }
                _ = try await log.client.request(AddAuditEntries(entries: entries))

                func search(_ change: (inout AuditFilter) -> Void) async throws -> [AuditEntry] {
                    var filter = AuditFilter()
                    change(&filter)
                    var found: [AuditEntry] = []
                    var after: String?
                    repeat {
                        let page = try await log.client.request(ListAuditEntries(limit: 7, after: after, filter: filter))
                        found += page.entries.map(\.entry)
                        after = page.next
                    } while after != nil
                    return found
                }
                func expected(_ isWanted: (AuditEntry) -> Bool) -> [AuditEntry] { entries.filter(isWanted).reversed() }

                #expect(try await search { _ in } == entries.reversed())
                #expect(try await search { $0.account = "ann" } == expected { $0.actor == "Ann" })
                #expect(try await search { $0.action = "change.1" } == expected { $0.action == "change.1" })
                #expect(try await search { $0.object = "thing-4" } == expected { $0.object.id == "Thing-4" })
                #expect(try await search { ($0.from, $0.to) = (1_010, 1_020) } == expected { (1_010..<1_020).contains($0.at) })
                let all = try await search {
                    ($0.account, $0.action, $0.object, $0.from, $0.to) = ("BOB", "change.1", "thing-2", 1_005, 1_059)
                }
                #expect(
                    all
                        == expected {
                            $0.actor == "bob" && $0.action == "change.1" && $0.object.id == "Thing-2"
                                && (1_005..<1_059).contains($0.at)
                        })
                #expect(!all.isEmpty)
                #expect(try await search { $0.account = "carl" }.isEmpty)
            }
        }
    }

    @Test("A wrong command is refused, and the answer names the field")
    func badInput() async throws {
        try await AuditLog.with(.sqlite) { log in
            try await log.withPeople { _ in
                let client = log.client
                #expect(await client.failure(of: try AddAuditEntries(entries: []))?.field == "entries")
                let nameless = AuditEntry.sample("")
                #expect(await client.failure(of: try AddAuditEntries(entries: [nameless]))?.field == "entries[0].action")
                #expect(await client.failure(of: ListAuditEntries(limit: 0))?.field == "limit")
                #expect(await client.failure(of: ListAuditEntries(limit: 1, after: "?"))?.field == "after")
                #expect(await client.failure(of: ReadAuditChain(after: "?"))?.field == "after")
                let links = try await log.links()
                #expect(links.isEmpty)
            }
        }
    }

    @Test(
        "Changes of accounts, sign-ins and tokens are recorded with their transaction, without secrets",
        arguments: StoreKind.allCases)
    func accounts(_ kind: StoreKind) async throws {
        try await AuditLog.with(kind) { log in
            try await log.withPeople { _ in
                let admin = try #require(AccountName("admin"))
                let bob = try #require(AccountName("bob"))
                let password = Secret("a password of the test")
                let hash = CredentialHash(digest: (0..<32).map { UInt8($0) })
                let context = CallerContext(actor: "admin", address: "192.0.2.9")
                _ = try await log.client.request(SetUpPeople(account: admin, password: password, tokenHash: hash))
                _ = try await log.client.request(
                    AddAccount(account: bob, password: password, role: .communicator), context: context)
                let signedIn = try await log.client.request(
                    BeginSignIn(account: "bob", password: password, code: nil, address: "192.0.2.8"))
                _ = try await log.client.request(EndSignIn(hash: signedIn.secret.credentialHash), context: context)
                _ = try await log.client.request(RemoveAccount(bob), context: context)
                // A refused change leaves no entry.
                #expect(await log.client.failure(of: RemoveAccount(admin), context: context) != nil)

                let entries = try await log.links().compactMap(\.content)
                #expect(
                    entries.map(\.action) == [
                        "account.add", "token.add", "account.add", "sign_in.begin", "sign_in.end", "account.remove",
                    ])
                #expect(entries.map(\.actor) == [nil, nil, "admin", "bob", "admin", "admin"])
                #expect(entries[2].address == "192.0.2.9" && entries[3].address == "192.0.2.8")
                #expect(entries[2].object == AuditObject(kind: "account", id: "bob"))
                let text = try await log.links().map(\.entry).joined()
                #expect(!text.contains(password.text) && !text.contains(signedIn.secret.text) && !text.contains(hash.description))
                try await log.expectWhole()
            }
        }
    }
}
