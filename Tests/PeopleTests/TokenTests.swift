import Bus
import Schemas
import TestSupport
import Testing
import Base

@testable import People

extension PeopleServiceTests {
    @Suite("Bearer tokens over the bus")
    struct TokenTests {
        @Test("A token is shown once, found by its hash, used, listed and revoked", arguments: StoreKind.ofRules)
        func life(kind: StoreKind) async throws {
            try await RunningPeople.withAdmin(kind) { people in
                let client = people.client
                try await people.add("ann")
                let channel = TopicPrefix(channel: ObjectID())
                let expires = UnixMilliseconds.now + .seconds(3_600)
                let added = try await client.request(
                    AddToken(name: "portal", rights: [.send], scope: [channel], expires: expires),
                    context: CallerContext(actor: "ann"))
                #expect(added.secret.text.wholeMatch(of: /msi_[A-Za-z0-9_-]{43}/) != nil)
                let hash = added.secret.credentialHash
                let credential = try #require(try await people.credential(hash))
                #expect(credential.kind == .token && credential.id == added.token.id && credential.account == "ann")
                #expect(credential.rights == [.send] && credential.scope == [channel] && credential.expires == expires)
                #expect(credential.isOperator == nil && credential.secondFactor == .none)

                let use = UnixMilliseconds.now
                _ = try await client.request(
                    ReportUses(uses: [
                        .init(hash: hash, at: use, address: "192.0.2.7"),
                        .init(hash: CredentialHash(digest: Array(repeating: 9, count: 32)), at: use, address: "192.0.2.8"),
                    ]))
                // An older report of another gateway has no effect.
                _ = try await client.request(ReportUses(uses: [.init(hash: hash, at: 5, address: "192.0.2.9")]))
                let listed = try await client.request(ListTokens(account: "ann", limit: 10)).tokens
                #expect(listed.map(\.id) == [added.token.id] && listed.first?.account == "ann")
                #expect(listed.first?.lastUsed == use && listed.first?.lastAddress == "192.0.2.7")
                #expect(try await client.request(ListTokens(limit: 10)).tokens.map(\.name) == ["operator", "portal"])

                #expect(await client.failure(of: RemoveToken(added.token.id, account: "admin"))?.status == .notFound)
                let before = try await people.changes(after: 0).sequence
                _ = try await client.request(RemoveToken(added.token.id, account: "ann"))
                #expect(try await people.credential(hash) == nil)
                #expect(try await people.changes(after: before).changes == [CredentialChange(of: hash, ended: true)])
                #expect(await client.failure(of: RemoveToken(added.token.id))?.status == .notFound)
            }
        }

        @Test("A token has at most the rights of its account's role, now and later")
        func rights() async throws {
            try await RunningPeople.withAdmin(.sqlite) { people in
                let client = people.client
                try await people.add("ann", role: .superUser)
                let added = try await client.request(AddToken(name: "all", account: "ann", rights: [.read, .administer]))
                _ = try await client.request(UpdateAccount("ann", role: .communicator))
                #expect(try await people.credential(added.secret.credentialHash)?.rights == [.read])
                let refused = try #require(
                    await client.failure(of: AddToken(name: "all", account: "ann", rights: [.administer])))
                #expect(refused.status == .invalid && refused.field == "rights")
                #expect(await client.failure(of: AddToken(name: "none", account: "ann", rights: []))?.field == "rights")
                let past = AddToken(name: "old", account: "ann", rights: [.read], expires: 1)
                #expect(await client.failure(of: past)?.field == "expires")
                #expect(await client.failure(of: AddToken(name: "x", rights: [.read]))?.status == .unauthenticated)
                _ = try await client.request(UpdateAccount("ann", disabled: true))
                #expect(await client.failure(of: AddToken(name: "x", account: "ann", rights: [.read]))?.status == .conflict)
            }
        }

        @Test("A token ends at its expiry")
        func expiry() async throws {
            try await RunningPeople.withAdmin(.sqlite) { people in
                let added = try await people.client.request(
                    AddToken(name: "short", account: "admin", rights: [.read], expires: .now + 8_000))
                let hash = added.secret.credentialHash
                #expect(try await people.credential(hash) != nil)
                try await eventually { try await people.credential(hash) == nil }
            }
        }

        @Test("The operator's token is replaced by a new one of a super user", arguments: StoreKind.ofRules)
        func operatorToken(kind: StoreKind) async throws {
            try await RunningPeople.withAdmin(kind) { people in
                let client = people.client
                try await people.add("ann")
                let hash = CredentialHash(digest: Array(repeating: 7, count: 32))
                let refused = await client.failure(of: ReplaceOperatorToken(account: "ann", tokenHash: hash))
                #expect(refused?.field == "account")
                #expect(try await people.credential(RunningPeople.operatorHash) != nil)
                _ = try await client.request(UpdateAccount("ann", role: .superUser))
                _ = try await client.request(ReplaceOperatorToken(account: "ann", tokenHash: hash))
                #expect(try await people.credential(RunningPeople.operatorHash) == nil)
                let credential = try await people.credential(hash)
                #expect(credential?.isOperator == true && credential?.account == "ann")
                // It ends with its account's password, and then there is none to replace.
                _ = try await client.request(ChangePassword("ann", password: Secret("a new password")))
                #expect(try await people.credential(hash) == nil)
                _ = try await client.request(ReplaceOperatorToken(account: "admin", tokenHash: hash))
                #expect(try await people.credential(hash)?.account == "admin")
            }
        }
    }
}
