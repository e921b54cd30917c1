import AuditTrail
import Bus
import Base
import FoundationEssentials
import Schemas
import Store
import TestSupport
import Testing

@testable import People

extension PeopleServiceTests {
    @Suite("Accounts over the bus")
    struct AccountTests {
        @Test("Without its database the service does not take a token or the audit log's hashes for a first start")
        func lostDatabase() async throws {
            try await withTemporaryFolder { folder in
                for name in ["token", "audit-heads.log"] {
                    let head = "2026-11-25T02:40:00Z 7:\(String(repeating: "9f", count: 32))\n"
                    try Data(head.utf8).write(to: URL(filePath: "\(folder)/\(name)"))
                    let loss = await #expect(throws: LostStore.self) { try await RunningPeople.with(in: folder) { _ in } }
                    #expect(loss?.description.contains("msi restore") == true)
                    if name == "token" { try FileManager.default.removeItem(atPath: folder + "/token") }
                }
                #expect(!FileManager.default.fileExists(atPath: folder + "/people.sqlite"))
            }
        }

        @Test("A database without accounts gets no first super user if there were accounts", arguments: StoreKind.allCases)
        func anotherDatabase(_ kind: StoreKind) async throws {
            try await RunningPeople.with(kind) { people in
                let head = AuditHead(number: 7, hash: String(repeating: "9f", count: 32))
                try AuditHeadFile(stateDirectory: people.folder).append(head)
                let command = SetUpPeople(
                    account: "admin", password: RunningPeople.password, tokenHash: RunningPeople.operatorHash)
                let failure = await people.client.failure(of: command)
                #expect(failure?.status == .unavailable && failure?.message.contains("msi restore") == true)
            }
        }

        @Test("The first account is set up once", arguments: StoreKind.allCases)
        func setup(kind: StoreKind) async throws {
            try await RunningPeople.with(kind) { people in
                let command = SetUpPeople(
                    account: "admin", password: RunningPeople.password, tokenHash: RunningPeople.operatorHash)
                // Two instances of `msi up` at the same time.
                async let first = people.client.failure(of: command)
                async let second = people.client.failure(of: command)
                let failures = await [first, second].compactMap { $0 }
                #expect(failures.map(\.status) == [.conflict], "\(failures)")
                #expect(await people.client.failure(of: command)?.message == "there are accounts already")
                let credential = try #require(try await people.credential(RunningPeople.operatorHash))
                #expect(credential.isOperator == true)
                #expect(credential.account == "admin")
                #expect(credential.rights == AccountRight.allCases)
                #expect(try await people.signIn().credential.role == .superUser)
            }
        }

        @Test("Accounts are added, listed, changed and removed, and a name is never used again", arguments: StoreKind.allCases)
        func life(kind: StoreKind) async throws {
            try await RunningPeople.withAdmin(kind) { people in
                let client = people.client
                let ann = try await client.request(
                    AddAccount(account: "Ann.Lee@uni", password: Secret("long enough"), role: .communicator), context: .admin)
                #expect(ann.account.description == "Ann.Lee@uni")
                #expect(ann.hasPassword && !ann.disabled && ann.secondFactor == .none && !ann.secondFactorRequired)
                let word = AddAccount(account: "Import", password: Secret("long enough"), role: .communicator)
                let refused = await client.failure(of: word, context: .admin)
                #expect(refused?.status == .conflict && refused?.field == "account")
                let again = AddAccount(account: "ann.lee@UNI", password: Secret("long enough"), role: .communicator)
                let twice = try #require(await client.failure(of: again))
                #expect(twice.status == .conflict && twice.field == "account")
                #expect(twice.message == "the account Ann.Lee@uni exists already")

                let sso = AddAccount(account: "sso", password: nil, role: .communicator, oidc: "248289761001")
                let noProvider = await client.failure(of: sso)
                #expect(noProvider?.status == .conflict && noProvider?.message.contains("MSI_OIDC_ISSUER") == true)
                try await people.add("sso")

                let first = try await client.request(ListAccounts(limit: 2))
                #expect(first.accounts.map(\.account) == ["admin", "ann.lee@uni"])
                let second = try await client.request(ListAccounts(limit: 2, after: first.next))
                #expect(second.accounts.map(\.account) == ["sso"] && second.next == nil)
                #expect(await client.failure(of: ListAccounts(limit: 2, after: "?"))?.field == "after")

                let changed = try await client.request(
                    UpdateAccount("ANN.LEE@uni", role: .superUser, secondFactorRequired: true), context: .admin)
                #expect(changed.role == .superUser && changed.secondFactor == .required && !changed.disabled)
                #expect(try await client.request(GetAccount("ann.lee@uni")) == changed)

                _ = try await client.request(RemoveAccount("ann.lee@uni"), context: .admin)
                #expect(await client.failure(of: GetAccount("ann.lee@uni"))?.status == .notFound)
                #expect(await client.failure(of: RemoveAccount("ann.lee@uni"))?.status == .notFound)
                #expect(await client.failure(of: UpdateAccount("ann.lee@uni", disabled: false))?.status == .notFound)
                #expect(
                    await client.failure(of: ChangePassword("ann.lee@uni", password: Secret("long enough")))?.status == .notFound)
                #expect(
                    await client.failure(of: again)?.message
                        == "the account Ann.Lee@uni was removed, and its name is never used again")
                #expect(try await client.request(ListAccounts(limit: 200)).accounts.map(\.account) == ["admin", "sso"])
            }
        }

        @Test("Of a removed account neither the person's name, the profile nor the last sign-in stays")
        func forgottenPerson() async throws {
            try await withTemporaryFolder { folder in
                try await RunningPeople.with(in: folder) { people in
                    try await people.setUp()
                    try await people.add("ann")
                    _ = try await people.client.request(UpdateAccount("ann", displayName: "Ann Lee"))
                    _ = try await people.signIn("ann")
                    let profile = SetProfile(Profile(bio: "Physics"))
                    _ = try await people.client.request(profile, context: CallerContext(actor: "ann"))
                    _ = try await people.client.request(RemoveAccount("ann"))
                }
                let store = try await Storage.open(
                    PeopleStore.declaration, at: StoragePlace(database: nil, folder: folder), logger: quietLogger)
                let stored = try await store.get("ann", from: PeopleStore.accounts)?.document
                let profile = try await store.get("ann", from: PeopleStore.profiles)
                try await store.close()
                #expect(stored?.removed != nil && stored?.displayName == nil && stored?.signedIn == nil)
                #expect(profile == nil)
            }
        }

        @Test("The last active super user stays one", arguments: StoreKind.allCases)
        func lastSuperUser(kind: StoreKind) async throws {
            try await RunningPeople.withAdmin(kind) { people in
                let client = people.client
                func expectRefused() async {
                    for failure in [
                        await client.failure(of: RemoveAccount("admin")),
                        await client.failure(of: UpdateAccount("admin", disabled: true)),
                        await client.failure(of: UpdateAccount("admin", role: .communicator)),
                    ] {
                        #expect(failure?.status == .conflict, "\(String(describing: failure))")
                        #expect(failure?.message.hasPrefix("admin is the last super user") == true)
                    }
                }
                await expectRefused()
                try await people.add("ann")
                await expectRefused()
                _ = try await client.request(UpdateAccount("ann", role: .superUser, disabled: true))
                await expectRefused()
                _ = try await client.request(UpdateAccount("ann", disabled: false))
                // Each of two super users removes the other at the same time.
                async let one = client.failure(of: RemoveAccount("admin"))
                async let other = client.failure(of: RemoveAccount("ann"))
                let failures = await [one, other].compactMap { $0 }
                #expect(failures.map(\.status) == [.conflict])
                #expect(try await client.request(ListAccounts(limit: 10)).accounts.count == 1)
            }
        }

        @Test("A new password ends the account's sign-ins and tokens, and no others", arguments: StoreKind.ofRules)
        func passwordChange(kind: StoreKind) async throws {
            try await RunningPeople.withAdmin(kind) { people in
                let client = people.client
                try await people.add("ann")
                let mine = try await people.signIn("ann")
                let others = try await people.signIn()
                let token = try await client.request(AddToken(name: "script", account: "ann", rights: [.send]))
                let wrong = ChangePassword(
                    "ann", password: Secret("a new password"), currentPassword: Secret("wrong"), address: "192.0.2.1")
                let failure = try #require(await client.failure(of: wrong))
                #expect(failure.status == .unauthenticated && failure.field == "current_password")
                #expect(try await people.credential(mine.hash) != nil)
                let before = try await people.changes(after: 0).sequence
                _ = try await client.request(
                    ChangePassword("ann", password: Secret("a new password"), currentPassword: RunningPeople.password))
                #expect(try await people.changes(after: before).changes == [CredentialChange(of: "ann", ended: true)])
                #expect(try await people.credential(mine.hash) == nil)
                #expect(try await people.credential(token.secret.credentialHash) == nil)
                #expect(try await client.request(ListTokens(account: "ann", limit: 10)).tokens.isEmpty)
                #expect(try await people.credential(others.hash) != nil)
                #expect(try await people.credential(RunningPeople.operatorHash) != nil)
                #expect(await people.refusal("ann")?.status == .unauthenticated)
                _ = try await people.signIn("ann", Secret("a new password"))
            }
        }

        @Test("The audit log has each token that ends with a change of its account, and a removed account that loses its person")
        func recordedEnds() async throws {
            try await RunningPeople.withProviderThatIsAway { people in
                let client = people.client
                try await people.add("bob")
                var tokens: Set<String> = []
                for name in ["one", "two"] {
                    let added = try await client.request(AddToken(name: name, account: "bob", rights: [.read]))
                    tokens.insert("\(added.token.id)")
                }
                _ = try await client.request(UpdateAccount("bob", disabled: true), context: .admin)
                _ = try await client.request(AddAccount(account: "ann", password: nil, role: .communicator, oidc: "17"))
                _ = try await client.request(RemoveAccount("ann"))
                _ = try await client.request(
                    AddAccount(account: "ann2", password: nil, role: .communicator, oidc: "17"), context: .admin)

                let entries = try await client.request(ListAuditEntries(limit: 100)).entries.sorted { $0.number < $1.number }
                    .map(\.entry)
                #expect(
                    entries.map(\.action) == [
                        "account.add", "token.add", "account.add", "token.add", "token.add", "token.remove", "token.remove",
                        "account.update", "account.add", "account.remove", "account.link", "account.add",
                    ])
                let ended = entries.filter { $0.action == "token.remove" }
                #expect(Set(ended.map(\.object.id)) == tokens)
                #expect(ended.allSatisfy { $0.actor == "admin" && $0.before?["account"]?.string == "bob" && $0.after == nil })
                let link = try #require(entries.first { $0.action == "account.link" })
                #expect(link.object.id == "ann" && link.actor == "admin")
                #expect(link.before?["oidc"]?.string == "17" && link.after?["oidc"] == nil)
            }
        }

        @Test("Disabling or removing an account ends its sign-ins and tokens, within a second for all who listen")
        func disabling() async throws {
            try await RunningPeople.withAdmin(.sqlite) { people in
                let events = try await people.listen()
                for (name, command) in [("ann", "disable"), ("bob", "remove")] as [(AccountName, String)] {
                    try await people.add(name)
                    let signIn = try await people.signIn(name.description)
                    let token = try await people.client.request(AddToken(name: "script", account: name, rights: [.read]))
                    if command == "disable" {
                        _ = try await people.client.request(UpdateAccount(name, disabled: true))
                    } else {
                        _ = try await people.client.request(RemoveAccount(name))
                    }
                    for await event in events where event.changes.last == CredentialChange(of: name, ended: true) { break }
                    let changes = try await people.changes(after: signIn.credential.sequence)
                    #expect(
                        changes.changes == [
                            CredentialChange(of: token.secret.credentialHash), CredentialChange(of: name, ended: true),
                        ])
                    #expect(try await people.credential(signIn.hash) == nil)
                    #expect(try await people.credential(token.secret.credentialHash) == nil)
                    let refusal = await people.refusal(name.description)
                    #expect(refusal == (await people.refusal("nobody")))
                }
                _ = try await people.client.request(UpdateAccount("ann", disabled: false))
                _ = try await people.signIn("ann")
            }
        }

        @Test("A change that takes nothing away is seen as well: the role of a sign-in")
        func roleChange() async throws {
            try await RunningPeople.withAdmin(.sqlite) { people in
                try await people.add("ann")
                let signIn = try await people.signIn("ann")
                #expect(signIn.credential.rights == [.read, .send])
                _ = try await people.client.request(UpdateAccount("ann", role: .superUser))
                #expect(try await people.changes(after: signIn.credential.sequence).changes == [CredentialChange(of: "ann")])
                #expect(try await people.credential(signIn.hash)?.rights == AccountRight.allCases)
            }
        }

        @Test("Accounts, sign-ins and changes survive a restart, and a number from another database means that all has changed")
        func restart() async throws {
            try await withTemporaryFolder { folder in
                let signIn = try await RunningPeople.with(in: folder) { people in
                    try await people.setUp()
                    return try await people.signIn()
                }
                try await RunningPeople.with(in: folder) { people in
                    let sequence = signIn.credential.sequence
                    let credential = try await people.credential(signIn.hash)
                    #expect(credential != nil)
                    #expect(try await people.changes(after: sequence) == PeopleChanged(after: sequence))
                    #expect(try await people.changes(after: sequence + 1).all == true)
                }
            }
        }
    }
}
