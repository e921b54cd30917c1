import Bus
import FoundationEssentials
import Base
import Schemas
import TestSupport
import Testing

@testable import People

extension PeopleServiceTests {
    /// What only the staff has: sign-ins at the portal, tokens, invitations, and copies of their credentials at gateways.
    @Suite("Staff and students over the bus")
    struct StaffTests {
        @Test("A student has nothing of the staff's, and no caller of an earlier version sees one", arguments: StoreKind.ofRules)
        func refusals(kind: StoreKind) async throws {
            try await RunningPeople.withAdmin(kind) { people in
                let client = people.client
                let before = try await people.changes(after: 0).sequence
                let added = try await client.request(
                    AddAccount(account: "ann", password: RunningPeople.password, role: .student, professor: true))
                #expect(added.role == .student && added.professor == true && added.hasPassword)
                #expect(await client.failure(of: GetAccount("ann"))?.status == .notFound)
                #expect(try await client.request(FindAccount("ANN")) == added)
                #expect(await client.failure(of: FindAccount("nobody"))?.status == .notFound)

                #expect(await people.refusal("ann")?.status == .forbidden)
                // Without the password nobody learns that there is such an account.
                #expect(await people.refusal("ann", Secret("a wrong password")) == (await people.refusal("nobody")))
                #expect(await client.failure(of: InviteAccount("ann"))?.status == .conflict)
                let token = AddToken(name: "script", account: "ann", rights: [.read])
                #expect(await client.failure(of: token)?.status == .conflict)
                let required = await client.failure(of: UpdateAccount("ann", secondFactorRequired: true))
                #expect(required?.status == .conflict && required?.field == "second_factor_required")

                _ = try await client.request(UpdateAccount("ann", displayName: "Ann Lee", professor: false))
                #expect(try await client.request(FindAccount("ann")).professor == nil)
                _ = try await client.request(UpdateAccount("ann", disabled: true))
                #expect(try await people.changes(after: 0).sequence == before)
            }
        }

        @Test("An account that leaves the staff loses what it was signed in with, and gets it back only by signing in again")
        func leaving() async throws {
            try await RunningPeople.withAdmin(.sqlite) { people in
                let client = people.client
                try await people.add("ann")
                let signIn = try await people.signIn("ann")
                let token = try await client.request(AddToken(name: "script", account: "ann", rights: [.read]))
                let invited = try await client.request(InviteAccount("ann"), context: .admin)
                _ = try await client.request(UpdateAccount("ann", secondFactorRequired: true))
                let before = try await people.changes(after: 0).sequence

                let student = try await client.request(UpdateAccount("ann", role: .student))
                #expect(student.invitation == nil && !student.secondFactorRequired)
                #expect(try await people.changes(after: before).changes == [CredentialChange(of: "ann", ended: true)])
                #expect(try await people.credential(signIn.hash) == nil)
                #expect(try await people.credential(token.secret.credentialHash) == nil)
                let confirmation = ConfirmSignIn(hash: signIn.hash, password: RunningPeople.password, address: "192.0.2.1")
                #expect(await client.failure(of: confirmation)?.status == .notFound)
                let link = try #require(invited.invitation?.linkPath)
                let read = ReadInvitation(
                    invitation: Secret(String(link.text.dropFirst("/#invitation=".count))), address: "192.0.2.1")
                #expect(await client.failure(of: read) == .unusableInvitation)

                _ = try await client.request(UpdateAccount("ann", role: .communicator))
                #expect(try await people.credential(signIn.hash) == nil)
                #expect(try await people.signIn("ann").credential.role == .communicator)
            }
        }

        @Test("The devices of a student end when the account is disabled, gets another password, or joins the staff")
        func devices() async throws {
            try await RunningPeople.withAdmin(.sqlite) { people in
                let client = people.client
                let ann = try await people.signedIn("ann")
                let ben = try await people.signedIn("ben")
                let carl = try await people.signedIn("carl")
                let dan = try await people.signedIn("dan")
                let staff = try await people.changes(after: 0).sequence
                _ = try await client.request(UpdateAccount("ann", disabled: true))
                _ = try await client.request(ChangePassword("ben", password: Secret("another password")))
                #expect(try await people.changes(after: 0).sequence == staff)
                _ = try await client.request(UpdateAccount("carl", role: .communicator))
                _ = try await client.request(UpdateAccount("dan", displayName: "Dan", professor: true))
                for person in [ann, ben, carl] { #expect(try await person.refusal()?.field == "device", "\(person.account)") }
                _ = try await dan.token()
                let ends = try await people.deviceChanges().ended.compactMap(\.account)
                #expect(ends == ["ann", "ben", "carl"])
            }
        }

        @Test("The last super user does not become a student, and the operator's token belongs to no student")
        func lastSuperUser() async throws {
            try await RunningPeople.withAdmin(.sqlite) { people in
                #expect(await people.client.failure(of: UpdateAccount("admin", role: .student))?.status == .conflict)
                try await people.add("root", role: .superUser)
                _ = try await people.client.request(UpdateAccount("admin", role: .student))
                #expect(try await people.credential(RunningPeople.operatorHash) == nil)
                let command = ReplaceOperatorToken(account: "admin", tokenHash: RunningPeople.operatorHash)
                #expect(await people.client.failure(of: command)?.status == .invalid)
            }
        }

        @Test("The audit log has the changes of a student's account, and nothing about the person but the name")
        func auditedStudent() async throws {
            try await RunningPeople.withProviderThatIsAway { people in
                let client = people.client
                _ = try await client.request(
                    AddAccount(account: "ann", password: nil, role: .student, oidc: "248289761001", displayName: "Ann Lee"),
                    context: .admin)
                _ = try await client.request(UpdateAccount("ann", displayName: "Ann Ho", professor: true), context: .admin)
                _ = try await client.request(UpdateAccount("ann", oidc: "248289761002"), context: .admin)
                var filter = AuditFilter()
                filter.object = "ann"
                let entries = try await client.request(ListAuditEntries(limit: 10, filter: filter)).entries.map(\.entry)
                #expect(entries.reversed().map(\.action) == ["account.add", "account.update", "account.link"])
                let text = String(decoding: try JSONCoder.encode(entries), as: UTF8.self)
                #expect(text.contains("professor"))
                for secret in ["Ann Lee", "Ann Ho", "248289761001", "248289761002"] { #expect(!text.contains(secret)) }
            }
        }
    }
}
