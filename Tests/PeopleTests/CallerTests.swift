import Bus
import Schemas
import TestSupport
import Testing

@testable import People

extension PeopleServiceTests {
    @Suite("Callers of changes over the bus")
    struct CallerTests {
        private func context(_ hash: CredentialHash, _ account: String = "root") -> CallerContext {
            CallerContext(actor: account, address: "192.0.2.1", credential: hash)
        }

        @Test(
            "A change of accounts and rights is refused if the caller's credential has ended or does not suffice",
            arguments: StoreKind.ofRules)
        func changes(kind: StoreKind) async throws {
            try await RunningPeople.withAdmin(kind) { people in
                let client = people.client
                try await people.add("root", role: .superUser)
                try await people.add("ann")
                func token(_ account: AccountName, _ rights: [AccountRight], scope: [TopicPrefix]? = nil) async throws
                    -> AddToken.Reply
                {
                    try await client.request(AddToken(name: "t", account: account, rights: rights, scope: scope))
                }
                let anns = try await token("ann", [.read])
                let scoped = try await token("root", [.administer], scope: [TopicPrefix(channel: ObjectID())])
                let root = try await people.signIn("root").hash
                let ended = try await people.signIn("root").hash
                _ = try await client.request(EndSignIn(hash: ended))
                for (hash, status) in [
                    (ended, ReplyStatus.unauthenticated), (anns.secret.credentialHash, .forbidden),
                    (scoped.secret.credentialHash, .forbidden),
                ] {
                    let caller = context(hash)
                    func expectRefusal<C: Command>(_ command: C) async {
                        let failure = await client.failure(of: command, context: caller)
                        #expect(failure?.status == status, "\(C.name): \(failure.map { "\($0)" } ?? "done")")
                    }
                    await expectRefusal(AddAccount(account: "mallory", password: nil, role: .superUser, oidc: "m"))
                    await expectRefusal(UpdateAccount("admin", disabled: true))
                    await expectRefusal(ChangePassword("admin", password: Secret("a new password")))
                    await expectRefusal(BeginSecondFactor("admin"))
                    await expectRefusal(RemoveSecondFactor("admin"))
                    await expectRefusal(AddToken(name: "late", account: "admin", rights: [.read]))
                    await expectRefusal(RemoveAccount("admin"))
                }
                #expect(
                    await client.failure(of: RemoveToken(scoped.token.id), context: context(anns.secret.credentialHash, "ann"))?
                        .status == .forbidden)
                #expect(try await client.request(ListAccounts(limit: 10)).accounts.map(\.account) == ["admin", "ann", "root"])
                // A super user changes other accounts, but makes no tokens that act for them.
                let others = AddToken(name: "another's", account: "ann", rights: [.read])
                #expect(await client.failure(of: others, context: context(root))?.status == .forbidden)
                _ = try await client.request(others, context: context(RunningPeople.operatorHash, "admin"))
                _ = try await client.request(UpdateAccount("ann", secondFactorRequired: true), context: context(root))
                _ = try await client.request(AddToken(name: "own", rights: [.read]), context: context(root))
            }
        }

        @Test("A change of one's own password does not undo a new password that was set at the same time")
        func simultaneousPasswords() async throws {
            try await RunningPeople.withAdmin(.sqlite) { people in
                try await people.add("ann")
                let client = people.client
                let reset = Secret("set by a super user")
                async let own = client.failure(
                    of: ChangePassword("ann", password: Secret("set by the attacker"), currentPassword: RunningPeople.password))
                _ = try await client.request(ChangePassword("ann", password: reset))
                #expect(await own?.status == .unauthenticated)
                _ = try await people.signIn("ann", reset)
            }
        }

        @Test("The operator's token ends when its account is not a super user any more, and does not come back")
        func demotion() async throws {
            try await RunningPeople.withAdmin(.sqlite) { people in
                let client = people.client
                try await people.add("root", role: .superUser)
                let token = try await client.request(AddToken(name: "t", account: "admin", rights: [.read]))
                _ = try await client.request(UpdateAccount("admin", role: .communicator))
                #expect(try await people.credential(RunningPeople.operatorHash) == nil)
                #expect(try await people.credential(token.secret.credentialHash)?.rights == [.read])
                _ = try await client.request(UpdateAccount("admin", role: .superUser))
                #expect(try await people.credential(RunningPeople.operatorHash) == nil)
            }
        }

        @Test("An account has at most a hundred tokens, besides the operator's")
        func maxTokens() async throws {
            try await RunningPeople.withAdmin(.sqlite) { people in
                let client = people.client
                try await people.add("ann", role: .superUser)
                let command = AddToken(name: "t", account: "ann", rights: [.read])
                for _ in 0..<PeopleLimits.maxTokens { _ = try await client.request(command) }
                let refused = try #require(await client.failure(of: command))
                #expect(refused.status == .conflict && refused.message.contains("100"), "\(refused)")
                _ = try await client.request(AddToken(name: "t", account: "admin", rights: [.read]))
                let hash = CredentialHash(digest: Array(repeating: 7, count: 32))
                _ = try await client.request(ReplaceOperatorToken(account: "ann", tokenHash: hash))
            }
        }
    }
}
