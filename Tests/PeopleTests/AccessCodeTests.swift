import Bus
import FoundationEssentials
import Base
import Schemas
import TestSupport
import Testing

@testable import People

extension PeopleServiceTests {
    @Suite("Access codes over the bus")
    struct AccessCodeTests {
        @Test("A code makes professors, as often as it may, and is shown once", arguments: StoreKind.ofRules)
        func life(kind: StoreKind) async throws {
            try await RunningPeople.withAdmin(kind) { people in
                for name in ["ann", "ben", "carl"] as [AccountName] { try await people.add(name, role: .student) }
                let added = try await people.addCode(uses: 2, note: "For the physics department")
                #expect(added.code.text.wholeMatch(of: /[A-Z2-7]{4}-[A-Z2-7]{4}-[A-Z2-7]{4}/) != nil)
                #expect(try await people.codes() == [added.accessCode])
                // As people type it.
                let typed = Secret(" " + added.code.text.lowercased().replacing("-", with: " "))
                #expect(try await people.use(typed, "ann").professor == true)
                #expect(try await people.client.request(FindAccount("ann")).professor == true)
                #expect(try await people.codes().map(\.used) == [1])
                // Of a repetition nothing is used.
                #expect(try await people.use(added.code, "ann").professor == true)
                #expect(try await people.codes().map(\.used) == [1])
                _ = try await people.use(added.code, "ben")
                #expect(try await people.codes().isEmpty)
                #expect(try await people.use(added.code, "ben").professor == true)

                let usedUp = try #require(await people.refusal(of: added.code, "carl"))
                #expect(usedUp.status == .forbidden && usedUp.field == "code")
                #expect(await people.refusal(of: Secret("AAAA-AAAA-AAAA"), "carl") == usedUp)
                #expect(try await people.client.request(FindAccount("carl")).professor == nil)

                let entries = try await people.client.request(ListAuditEntries(limit: 50)).entries.map(\.entry)
                #expect(entries.filter { $0.action == "access_code.use" }.map(\.object.id) == ["ben", "ann"])
                #expect(entries.count { $0.action == "access_code.add" && $0.object.id == "\(added.accessCode.id)" } == 1)
                let digits = added.code.text.replacing("-", with: "")
                for text in [added.code.text, digits] { #expect(!"\(entries)".contains(text) && !people.log.has(text)) }
            }
        }

        @Test("Of two persons who use the last use of a code at the same time, one is refused", arguments: StoreKind.allCases)
        func race(kind: StoreKind) async throws {
            try await RunningPeople.withAdmin(kind) { people in
                try await people.add("ann", role: .student)
                try await people.add("ben", role: .student)
                let code = try await people.addCode(uses: 1).code
                async let one = people.refusal(of: code, "ann")
                async let other = people.refusal(of: code, "ben")
                let failures = await [one, other].compactMap { $0 }
                #expect(failures.map(\.status) == [.forbidden])
            }
        }

        @Test("A code that is removed, has the past as its end, or is for registrations makes nobody a professor")
        func ends() async throws {
            try await RunningPeople.withAdmin(.sqlite) { people in
                try await people.add("ann", role: .student)
                let removed = try await people.addCode()
                _ = try await people.client.request(RemoveAccessCode(removed.accessCode.id))
                #expect(await people.client.failure(of: RemoveAccessCode(removed.accessCode.id))?.status == .notFound)
                #expect(await people.refusal(of: removed.code, "ann")?.status == .forbidden)
                let past = AddAccessCode(grants: .professor, uses: 1, expires: .now - .seconds(1))
                #expect(await people.client.failure(of: past)?.field == "expires")
                // The account has what it grants: to be there.
                let registration = try await people.addCode(grants: .account)
                #expect(try await people.use(registration.code, "ann").professor == nil)
                #expect(try await people.codes().map(\.used) == [0])
            }
        }

        @Test("Where a registration needs a code, each use of one is for one account, and a professor's code makes a professor")
        func registrations() async throws {
            try await RunningPeople.with(.sqlite, settings: ["MSI_REGISTRATION": "code"]) { people in
                try await people.setUp()
                func register(_ name: AccountName, _ code: Secret?) async throws -> CommandFailure? {
                    await people.client.failure(of: try await people.add(name, RunningPeople.password(of: name), code: code))
                }
                let code = try await people.addCode(grants: .account, uses: 1).code
                #expect(try await register("ann", code) == nil)
                for wrong in [nil, code, Secret("AAAA-AAAA-AAAA")] {
                    let refused = try #require(try await register("ben", wrong))
                    #expect(refused.status == .forbidden && refused.field == "access_code", "\(refused)")
                }
                #expect(try await register("ben", try await people.addCode(uses: 1).code) == nil)
                #expect(try await people.client.request(FindAccount("ann")).professor == nil)
                #expect(try await people.client.request(FindAccount("ben")).professor == true)
                #expect(try await people.codes().isEmpty)

                // A code is not used up by a registration that fails.
                let kept = try await people.addCode(grants: .account, uses: 1).code
                #expect(try await register("ann", kept)?.field == "account")
                #expect(try await register("carl", kept) == nil)
            }
        }

        @Test("An account of the staff can be a professor's too; one that is disabled, or none, can use no code")
        func accounts() async throws {
            try await RunningPeople.withAdmin(.sqlite) { people in
                try await people.add("ann")
                let code = try await people.addCode().code
                let signIn = try await people.signIn("ann")
                #expect(try await people.use(code, "ann").professor == true)
                #expect(try await people.credential(signIn.hash) != nil)
                _ = try await people.client.request(UpdateAccount("ann", disabled: true))
                #expect(await people.refusal(of: code, "ann")?.status == .unauthenticated)
                #expect(await people.refusal(of: code, "nobody")?.status == .unauthenticated)
                let command = UseAccessCode(code: code, address: "192.0.2.1")
                #expect(await people.client.failure(of: command)?.status == .unauthenticated)
            }
        }

        @Test("Wrong codes have to wait, as wrong passwords have")
        func limit() async throws {
            try await RunningPeople.withAdmin(.sqlite) { people in
                try await people.add("ann", role: .student)
                var failures: [ReplyStatus?] = []
                repeat {
                    failures.append(await people.refusal(of: Secret("AAAA-AAAA-AAAA"), "ann")?.status)
                } while failures.last == .forbidden && failures.count < 8
                #expect(failures.last == .overloaded && failures.count > 5, "\(failures)")
            }
        }

        @Test("There are at most 200 codes, of which those that are used up make room")
        func maximum() async throws {
            try await RunningPeople.withAdmin(.sqlite) { people in
                try await people.add("ann", role: .student)
                let first = try await people.addCode(uses: 1)
                for _ in 1..<PeopleStore.maxAccessCodes { _ = try await people.addCode() }
                let command = AddAccessCode(grants: .professor, uses: 1, expires: .now + .seconds(60))
                #expect(await people.client.failure(of: command)?.status == .conflict)
                _ = try await people.use(first.code, "ann")
                _ = try await people.client.request(command)
                #expect(try await people.codes().count == PeopleStore.maxAccessCodes)
                #expect(await people.client.failure(of: command)?.status == .conflict)
            }
        }
    }
}

extension RunningPeople {
    fileprivate func addCode(
        grants: AccessGrant = .professor, uses: Int = 5, note: String? = nil
    ) async throws -> AddAccessCode.Reply {
        try await client.request(
            AddAccessCode(grants: grants, note: note, uses: uses, expires: .now + .seconds(3_600)), context: .admin)
    }

    fileprivate func codes() async throws -> [AccessCode] { try await client.request(ListAccessCodes()).accessCodes }

    fileprivate func use(_ code: Secret, _ account: String) async throws -> Person {
        try await client.request(
            UseAccessCode(code: code, address: "192.0.2.1"), context: CallerContext(actor: account, address: "192.0.2.1"))
    }

    fileprivate func refusal(of code: Secret, _ account: String) async -> CommandFailure? {
        await client.failure(
            of: UseAccessCode(code: code, address: "192.0.2.1"), context: CallerContext(actor: account, address: "192.0.2.1"))
    }
}
