import Bus
import Schemas
import TestSupport
import Testing

@testable import People

extension PeopleServiceTests {
    @Suite("Imports of students over the bus")
    struct ImportTests {
        private static func row(
            _ account: AccountName, _ oidc: String, name: String? = nil, professor: Bool? = nil
        ) -> ImportedAccount {
            ImportedAccount(account: account, oidc: oidc, displayName: name, professor: professor)
        }

        /// Runs a test with a provider at which no one can sign in.
        private static func withProvider(_ kind: StoreKind, _ body: (RunningPeople) async throws -> Void) async throws {
            var settings = ["MSI_OIDC_ISSUER": "http://127.0.0.1:1", "MSI_OIDC_CLIENT_ID": "hub"]
            settings["MSI_DATABASE_URL"] = try await kind.newDatabaseURL()
            try await withTemporaryFolder { [settings] folder in
                try await RunningPeople.with(in: folder, settings: settings) { people in
                    try await people.setUp()
                    try await body(people)
                }
            }
        }

        @Test("A list adds and changes accounts, and repeated it changes nothing", arguments: StoreKind.ofRules)
        func life(kind: StoreKind) async throws {
            try await Self.withProvider(kind) { people in
                let rows = [Self.row("ann", "1", name: "Ann Lee"), Self.row("ben", "2", professor: true), Self.row("carl", "3")]
                let dry = try await people.client.request(ImportAccounts(rows: rows, dryRun: true), context: .admin)
                #expect(dry.outcomes.map(\.outcome) == [.added, .added, .added])
                #expect(await people.client.failure(of: FindAccount("ann"))?.status == .notFound)

                #expect(try await people.outcomes(rows) == [.added, .added, .added])
                let ann = try await people.client.request(FindAccount("ann"))
                #expect(ann.role == .student && ann.oidc == "1" && ann.displayName == "Ann Lee" && ann.professor == nil)
                #expect(!ann.hasPassword && !ann.disabled)
                #expect(try await people.client.request(FindAccount("ben")).professor == true)
                #expect(try await people.outcomes(rows) == [.unchanged, .unchanged, .unchanged])

                // What a row does not say stays.
                let later = [
                    Self.row("ann", "1"), Self.row("ben", "2", professor: false), Self.row("carl", "3", name: "Carl Wu"),
                ]
                #expect(try await people.outcomes(later, dryRun: true) == [.unchanged, .changed, .changed])
                #expect(try await people.outcomes(later) == [.unchanged, .changed, .changed])
                #expect(try await people.client.request(FindAccount("ann")) == ann)
                #expect(try await people.client.request(FindAccount("ben")).professor == nil)
                #expect(try await people.client.request(FindAccount("carl")).displayName == "Carl Wu")

                let entries = try await people.client.request(ListAuditEntries(limit: 50)).entries.map(\.entry)
                #expect(entries.count { $0.action == "account.add" && $0.object.id != "admin" } == 3)
                #expect(entries.count { $0.action == "account.import" } == 2)
            }
        }

        @Test("A row of another person, of the staff or of a name that was removed is refused, and the others are done")
        func refusals() async throws {
            try await Self.withProvider(.sqlite) { people in
                try await people.add("staff")
                try await people.add("gone")
                _ = try await people.client.request(RemoveAccount("gone"))
                try await people.add("own", role: .student)
                _ = try await people.outcomes([Self.row("ann", "1")])
                let rows = [
                    Self.row("staff", "10"), Self.row("gone", "11"), Self.row("own", "12"), Self.row("anna", "1"),
                    Self.row("ann", "13"), Self.row("ben", "14"), Self.row("benny", "14"), Self.row("requests", "15"),
                ]
                let reply = try await people.client.request(ImportAccounts(rows: rows, dryRun: false))
                #expect(
                    reply.outcomes.map(\.outcome)
                        == [.refused, .refused, .refused, .refused, .refused, .added, .refused, .refused])
                #expect(reply.outcomes.map(\.account) == rows.map(\.account))
                for outcome in reply.outcomes { #expect((outcome.reason != nil) == (outcome.outcome == .refused)) }
                #expect(reply.outcomes[3].reason?.contains("the account ann has this identifier") == true)
                #expect(try await people.client.request(FindAccount("own")).oidc == nil)
                #expect(try await people.client.request(FindAccount("ann")).oidc == "1")
                #expect(await people.client.failure(of: FindAccount("anna"))?.status == .notFound)
            }
        }

        @Test("An import does not enable an account that a super user has disabled")
        func disabled() async throws {
            try await Self.withProvider(.sqlite) { people in
                _ = try await people.outcomes([Self.row("ann", "1")])
                _ = try await people.client.request(UpdateAccount("ann", disabled: true))
                #expect(try await people.outcomes([Self.row("ann", "1", name: "Ann")]) == [.changed])
                #expect(try await people.client.request(FindAccount("ann")).disabled)
            }
        }

        @Test("Without a provider nobody could sign in, so nothing is imported")
        func noProvider() async throws {
            try await RunningPeople.withAdmin(.sqlite) { people in
                let failure = await people.client.failure(of: ImportAccounts(rows: [Self.row("ann", "1")], dryRun: true))
                #expect(failure?.status == .conflict && failure?.message.contains("MSI_OIDC_ISSUER") == true)
            }
        }
    }
}

extension RunningPeople {
    fileprivate func outcomes(_ rows: [ImportedAccount], dryRun: Bool = false) async throws -> [ImportOutcome.Kind] {
        try await client.request(ImportAccounts(rows: rows, dryRun: dryRun), context: .admin).outcomes.map(\.outcome)
    }
}
