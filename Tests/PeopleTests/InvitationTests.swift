import Bus
import Schemas
import TestSupport
import Testing
import Base

@testable import People

extension PeopleServiceTests {
    @Suite("Invitations over the bus")
    struct InvitationTests {
        private static let password = Secret("the first password")

        @Test("An invitation sets the first password once, and signs in", arguments: StoreKind.ofRules)
        func life(kind: StoreKind) async throws {
            try await RunningPeople.withAdmin(kind) { people in
                let before = UnixMilliseconds.now
                let added = try await people.client.request(
                    AddAccount(account: "Ann", password: nil, role: .communicator, displayName: "Ann Lee", invite: true),
                    context: .admin)
                let expires = try #require(added.invitation?.expires)
                #expect(expires >= before + PeopleLimits.invitationTime && expires <= .now + PeopleLimits.invitationTime)
                #expect(!added.hasPassword && added.displayName == "Ann Lee" && added.lastSignIn == nil)
                // Its secret is shown only once.
                let account = try await people.client.request(GetAccount("ann"))
                #expect(account.invitation == Invitation(expires: expires))
                let secret = try added.secret
                let known = try await people.client.request(ReadInvitation(invitation: secret, address: "192.0.2.1"))
                #expect(
                    known == ReadInvitation.Reply(account: "ann", displayName: "Ann Lee", expires: expires, needsCode: false))

                let signedIn = try await people.accept(secret)
                #expect(signedIn.credential.account == "ann" && signedIn.credential.displayName == "Ann Lee")
                #expect(try await people.credential(signedIn.hash) == signedIn.credential)
                #expect(await people.refusal(of: secret) == .unusableInvitation)
                _ = try await people.signIn("ann", Self.password)
                let accepted = try await people.client.request(GetAccount("ann"))
                #expect(accepted.hasPassword && accepted.invitation == nil)
                #expect(try #require(accepted.lastSignIn) >= before)

                let entries = try await people.client.request(ListAuditEntries(limit: 20, filter: AuditFilter())).entries
                let actions = entries.map(\.entry.action)
                #expect(actions.prefix(2).allSatisfy { $0 == BeginSignIn.name } && actions.contains(AcceptInvitation.name))
                #expect(!"\(entries)".contains(secret.text) && !people.log.has(secret.text))
            }
        }

        @Test("Of two who use an invitation at the same time, one is refused", arguments: StoreKind.allCases)
        func race(kind: StoreKind) async throws {
            try await RunningPeople.withAdmin(kind) { people in
                try await people.add("ann")
                let secret = try await people.invite("ann")
                async let one = people.refusal(of: secret)
                async let other = people.refusal(of: secret)
                let failures = await [one, other].compactMap { $0 }
                #expect(failures == [.unusableInvitation])
            }
        }

        @Test("An invitation ends with a newer one, another password, and the end of its account")
        func ends() async throws {
            try await RunningPeople.withAdmin(.sqlite) { people in
                try await people.add("ann")
                func isUsable(_ secret: Secret) async -> Bool {
                    await people.client.failure(of: ReadInvitation(invitation: secret, address: "192.0.2.1")) == nil
                }
                let first = try await people.invite("ann")
                let second = try await people.invite("ann")
                #expect(await !isUsable(first))
                #expect(await isUsable(second))
                _ = try await people.client.request(ChangePassword("ann", password: Secret("another password")))
                #expect(await !isUsable(second))

                let third = try await people.invite("ann")
                _ = try await people.client.request(UpdateAccount("ann", disabled: true))
                #expect(await people.client.failure(of: InviteAccount("ann"))?.status == .conflict)
                _ = try await people.client.request(UpdateAccount("ann", disabled: false))
                #expect(await !isUsable(third))

                let fourth = try await people.invite("ann")
                #expect(await isUsable(fourth))
                _ = try await people.client.request(RemoveAccount("ann"))
                #expect(await !isUsable(fourth))
            }
        }

        @Test("For a forgotten password, sign-ins and tokens end only when the invitation is used, and the second factor stays")
        func forgottenPassword() async throws {
            try await RunningPeople.withAdmin(.sqlite) { people in
                let client = people.client
                try await people.add("ann")
                let earlier = try await people.signIn("ann")
                let token = try await client.request(AddToken(name: "t", account: "ann", rights: [.read]))
                let begun = try await client.request(BeginSecondFactor("ann"))
                let totp = try #require(TOTP(secret: begun.secret))
                let recovery = try await client.request(
                    ConfirmSecondFactor("ann", code: Secret(totp.code(step: TOTP.step(at: .now))))
                ).recoveryCodes
                let secret = try await people.invite("ann")
                #expect(try await people.credential(earlier.hash) != nil)
                #expect(
                    try await client.request(ReadInvitation(invitation: secret, address: "192.0.2.1")).needsCode)

                #expect(await people.refusal(of: secret)?.field == "code")
                #expect(await people.refusal(of: secret, code: Secret("000000"))?.field == "code")
                _ = try await people.accept(secret, code: recovery[0])
                #expect(try await people.credential(earlier.hash) == nil)
                #expect(try await people.credential(token.secret.credentialHash) == nil)
                #expect(await people.refusal("ann", code: recovery[1])?.status == .unauthenticated)
                _ = try await people.signIn("ann", Self.password, code: recovery[1])
            }
        }

        @Test("Wrong invitations are limited as wrong passwords are, even of names without an account")
        func limits() async throws {
            try await RunningPeople.withAdmin(.sqlite) { people in
                let text = String(repeating: "A", count: 43)
                for name in ["admin.", "nobody.", "no name!.", ""] {
                    let wrong = Secret(name + text)
                    #expect(await people.refusal(of: wrong) == .unusableInvitation)
                    _ = try await people.tooManyAttempts { await people.refusal(of: wrong) }
                }
            }
        }

        @Test("Who has the link cannot guess codes for ever by looking at the invitation in between")
        func guessedCodes() async throws {
            try await RunningPeople.withAdmin(.sqlite) { people in
                let client = people.client
                try await people.add("ann")
                let begun = try await client.request(BeginSecondFactor("ann"))
                let totp = try #require(TOTP(secret: begun.secret))
                _ = try await client.request(
                    ConfirmSecondFactor("ann", code: Secret(totp.code(step: TOTP.step(at: .now)))))
                let secret = try await people.invite("ann")
                _ = try await people.tooManyAttempts {
                    let look = await client.failure(of: ReadInvitation(invitation: secret, address: "192.0.2.1"))
                    if let look { return look }
                    return await people.refusal(of: secret, code: Secret("000000"))
                }
            }
        }

        @Test("An invitation expires after a day, even if the clock was ahead when it was made")
        func expiry() {
            let secret = Secret.newInvitation(of: "ann")
            let made: UnixMilliseconds = 1_795_262_462_399
            let invitation = InvitationRecord(secret, now: made)
            let day = Milliseconds.seconds(86_400)
            #expect(invitation.matches(secret, at: made) && invitation.matches(secret, at: made + day - .seconds(1)))
            #expect(!invitation.matches(secret, at: made + day))
            #expect(!invitation.matches(secret, at: made - day))
            #expect(!invitation.matches(.newInvitation(of: "ann"), at: made))
        }

        @Test("The account itself may change its display name, and nothing else")
        func displayName() async throws {
            try await RunningPeople.withAdmin(.sqlite) { people in
                let client = people.client
                try await people.add("ann")
                let signedIn = try await people.signIn("ann")
                let caller = CallerContext(actor: "ann", address: "192.0.2.1", credential: signedIn.hash)
                let named = try await client.request(UpdateAccount("ann", displayName: "Ann Lee"), context: caller)
                #expect(named.displayName == "Ann Lee")
                #expect(try await people.credential(signedIn.hash)?.displayName == "Ann Lee")
                let more = UpdateAccount("ann", role: .superUser, displayName: "Root")
                #expect(await client.failure(of: more, context: caller)?.status == .forbidden)
                let others = UpdateAccount("admin", displayName: "Ann Lee")
                #expect(await client.failure(of: others, context: caller)?.status == .forbidden)
                #expect(try await client.request(UpdateAccount("ann", displayName: " "), context: caller).displayName == nil)
            }
        }
    }
}

extension RunningPeople {
    fileprivate func invite(_ account: AccountName) async throws -> Secret {
        try await client.request(InviteAccount(account), context: .admin).secret
    }

    fileprivate func accept(_ secret: Secret, code: Secret? = nil) async throws -> SignedIn {
        try await client.request(Self.acceptance(secret, code))
    }

    fileprivate func refusal(of secret: Secret, code: Secret? = nil) async -> CommandFailure? {
        await client.failure(of: Self.acceptance(secret, code))
    }

    private static func acceptance(_ secret: Secret, _ code: Secret?) -> AcceptInvitation {
        AcceptInvitation(invitation: secret, password: Secret("the first password"), code: code, address: "192.0.2.1")
    }
}

extension Account {
    /// The secret in the link of its invitation.
    fileprivate var secret: Secret {
        get throws {
            let link = try #require(invitation?.linkPath).text
            #expect(link.hasPrefix("/#invitation="))
            return Secret(String(link.dropFirst("/#invitation=".count)))
        }
    }
}
