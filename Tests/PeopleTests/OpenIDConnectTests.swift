import Bus
import Base
import Schemas
import TestSupport
import Testing

@testable import People

extension PeopleServiceTests {
    @Suite("Sign-in at an OpenID Connect provider")
    struct OpenIDConnectTests {
        @Test("The first sign-in adds an account with the role of the claim, and a later one changes its role")
        func roles() async throws {
            try await OpenIDHarness.with { harness in
                let people = harness.people
                try await harness.add("17", "Ann", roles: ["student", "staff"])
                #expect(try await people.client.request(ReadSignInMethods()).provider)
                let first = try await harness.signIn("17")
                #expect(first.credential.account.description == "Ann" && first.credential.role == .communicator)
                #expect(try await people.credential(first.secret.credentialHash)?.rights == [.read, .send])
                let account = try await people.client.request(GetAccount("ann"))
                #expect(account.oidc == "17" && !account.hasPassword)

                try await harness.add("17", "Renamed", roles: ["it"])
                let second = try await harness.signIn("17")
                #expect(second.credential.account == "ann" && second.credential.role == .superUser)
                #expect(try await people.changes(after: first.credential.sequence).changes.contains(CredentialChange(of: "ann")))
                _ = try await people.client.request(UpdateAccount("ann", disabled: true))
                #expect(try await harness.refusal("17")?.status == .unauthenticated)
            }
        }

        @Test("A role that the provider withdraws ends the account's sign-ins and tokens, and disables it")
        func withdrawnRole() async throws {
            try await OpenIDHarness.with { harness in
                let people = harness.people
                try await harness.add("17", "ann", roles: ["it"])
                let signedIn = try await harness.signIn("17")
                let token = try await people.client.request(AddToken(name: "script", account: "ann", rights: [.administer]))

                try await harness.add("17", "ann", roles: ["student"])
                let refusal = try await harness.refusal("17")
                #expect(refusal?.status == .forbidden && refusal?.message.contains("ann is disabled") == true)
                #expect(try await people.credential(signedIn.secret.credentialHash) == nil)
                #expect(try await people.credential(token.secret.credentialHash) == nil)
                let changes = try await people.changes(after: signedIn.credential.sequence).changes
                #expect(changes.contains(CredentialChange(of: "ann", ended: true)))
                #expect(try await people.client.request(GetAccount("ann")).disabled)

                // The role comes back, and a super user lets the person in again.
                try await harness.add("17", "ann", roles: ["staff"])
                #expect(try await harness.refusal("17")?.status == .unauthenticated)
                _ = try await people.client.request(UpdateAccount("ann", disabled: false))
                #expect(try await harness.signIn("17").credential.role == .communicator)
            }
        }

        @Test("A student's account is neither disabled nor promoted by a claim: it signs in to the app, by the same person")
        func students() async throws {
            try await OpenIDHarness.with { harness in
                let client = harness.people.client
                _ = try await client.request(AddAccount(account: "ann", password: nil, role: .student, oidc: "17"))
                for roles in [["student"], ["staff"], ["it"]] {
                    try await harness.add("17", "ann", roles: roles)
                    let refusal = try await harness.refusal("17")
                    #expect(refusal?.status == .forbidden && refusal?.message.contains("signs in to the app") == true)
                    let account = try await client.request(FindAccount("ann"))
                    #expect(!account.disabled && account.role == .student)
                }
                let device = TestDevice()
                let credential = try await harness.credential(of: "17")
                let ann = try await harness.people.signIn(credential, on: device)
                #expect(ann.account == "ann")
                // The same code again, from the same device and from another one.
                #expect(try await harness.people.signIn(credential, on: device).id == ann.id)
                let other = try await harness.people.refusal(of: credential)
                #expect(other?.status == .unauthenticated && other?.field == "authorization_code")
            }
        }

        @Test("A person of the university registers and signs in with one code")
        func registration() async throws {
            try await OpenIDHarness.with { harness in
                let people = harness.people
                let device = TestDevice()
                try await harness.add("18", "ben", roles: [])
                let credential = try await harness.credential(of: "18")
                #expect(try await people.refusal(of: credential, on: device)?.status == .notFound)
                let person = try await people.client.request(try await people.add("benny", credential, on: device))
                #expect(person.role == .student && person.identities.map(\.provider) == [.university])
                #expect(try await people.signIn(credential, on: device).account == "benny")
                // What was begun to confirm a sign-in of the staff is for that alone.
                let signedIn = try await people.signIn()
                let confirming = try await harness.credential(of: "18", confirms: signedIn.hash)
                #expect(try await people.refusal(of: confirming, on: device)?.field == "authorization_code")
            }
        }

        @Test("What the claims change has no author in the audit log, even if another person is signed in in that browser")
        func author() async throws {
            try await OpenIDHarness.with { harness in
                let caller = CallerContext(actor: "ann", address: "192.0.2.1")
                let shared = OpenIDHarness(people: harness.people, provider: harness.provider, caller: caller)
                for role in ["staff", "it"] {
                    try await harness.add("18", "bob", roles: [role])
                    _ = try await shared.signIn("18")
                }
                try await harness.add("18", "bob", roles: [])
                #expect(try await shared.refusal("18")?.status == .forbidden)

                var bobs = AuditFilter()
                bobs.object = "bob"
                let list = ListAuditEntries(limit: 10, filter: bobs)
                let entries = try await harness.people.client.request(list).entries.map(\.entry)
                let signIn = FinishOpenIDSignIn.name
                #expect(
                    entries.map(\.action).sorted() == [AddAccount.name, UpdateAccount.name, signIn, signIn, signIn].sorted())
                for entry in entries {
                    let isSignIn = entry.action == signIn && entry.after == nil
                    #expect(entry.actor == (isSignIn ? "bob" : nil) && entry.address == "192.0.2.1", "\(entry)")
                }
            }
        }

        @Test("The last super user who can sign in keeps the account and the role, whatever the claim says")
        func lastSuperUser() async throws {
            try await OpenIDHarness.with { harness in
                try await harness.add("17", "ann", roles: ["it"])
                _ = try await harness.signIn("17")
                _ = try await harness.people.client.request(RemoveAccount("admin"))
                try await harness.add("17", "ann", roles: ["staff"])
                #expect(try await harness.signIn("17").credential.role == .superUser)
                try await harness.add("17", "ann", roles: [])
                #expect(try await harness.refusal("17")?.status == .forbidden)
                let account = try await harness.people.client.request(GetAccount("ann"))
                #expect(!account.disabled && account.role == .superUser)
                #expect(harness.people.log.has("it is the last super user who can sign in"))
            }
        }

        @Test("A person without a role, or with the name of another account, is refused")
        func refusedPersons() async throws {
            try await OpenIDHarness.with { harness in
                try await harness.add("1", "eve", roles: [])
                #expect(try await harness.refusal("1")?.status == .forbidden)
                try await harness.add("2", "ADMIN", roles: ["it"])
                #expect(try await harness.refusal("2")?.status == .conflict)
                try await harness.add("3", "no name", roles: ["staff"])
                let refusal = try await harness.refusal("3")
                #expect(refusal?.status == .forbidden && refusal?.message.contains("MSI_OIDC_NAME_CLAIM") == true)
            }
        }

        @Test(
            "A new account is named by sub, unless a claim is set that its people cannot choose; an email address must be verified"
        )
        func names() async throws {
            try await OpenIDHarness.with(["MSI_OIDC_COMMUNICATORS": "staff"]) { harness in
                try await harness.add("17", "rector", roles: ["staff"])
                #expect(try await harness.signIn("17").credential.account == "17")
            }
            try await OpenIDHarness.with(["MSI_OIDC_COMMUNICATORS": "staff", "MSI_OIDC_NAME_CLAIM": "email"]) { harness in
                for (isVerified, subject) in [(false, "1"), (true, "2")] {
                    try await harness.provider.add(
                        subject, ["email": "dan@example.edu", "email_verified": .boolean(isVerified), "roles": "staff"])
                }
                #expect(try await harness.refusal("1")?.message.contains("has not verified your email") == true)
                #expect(try await harness.signIn("2").credential.account == "dan@example.edu")
            }
        }

        @Test("A new account is added only once the gateway has accepted its name, for two browsers in parallel as well")
        func newAccount() async throws {
            try await OpenIDHarness.with { harness in
                let client = harness.people.client
                try await harness.add("17", "ann", roles: ["staff"])
                async let first = harness.arrive("17")
                async let second = harness.arrive("17")
                let newAccounts = try await [first, second].compactMap(\.newAccount)
                #expect(newAccounts.map(\.account) == ["ann", "ann"])
                #expect(await client.failure(of: GetAccount("ann"))?.status == .notFound)
                async let one = harness.accept(newAccounts[0])
                async let other = harness.accept(newAccounts[1])
                let signedIn = try await [one, other]
                #expect(Set(signedIn.map(\.credential.account)) == ["ann"] && signedIn[0].secret != signedIn[1].secret)
                for secret in signedIn.map(\.secret) {
                    #expect(try await harness.people.credential(secret.credentialHash) != nil)
                }
                let forged = AcceptOpenIDAccount(ticket: try await harness.begin().flow, address: "192.0.2.1")
                #expect(await client.failure(of: forged)?.status == .unauthenticated)
            }
        }

        @Test("A removed person does not come back under another name, unless a super user links a new account")
        func removedPerson() async throws {
            try await OpenIDHarness.with { harness in
                let client = harness.people.client
                try await harness.add("17", "ann", roles: ["staff"])
                _ = try await harness.signIn("17")
                _ = try await client.request(RemoveAccount("ann"))
                try await harness.add("17", "annie", roles: ["staff"])
                let refusal = try await harness.refusal("17")
                #expect(refusal?.status == .forbidden && refusal?.message.contains("was removed") == true)
                _ = try await client.request(AddAccount(account: "ann2", password: nil, role: .communicator, oidc: "17"))
                #expect(try await harness.signIn("17").credential.account == "ann2")
            }
        }

        @Test("An account with a password can be linked to a person, and to another one, whose predecessor's credentials end")
        func link() async throws {
            try await OpenIDHarness.with { harness in
                let people = harness.people
                try await people.add("ann")
                try await harness.add("17", "rector", roles: ["staff"])
                #expect(try await people.client.request(UpdateAccount("ann", oidc: "17")).oidc == "17")
                let signedIn = try await harness.signIn("17")
                #expect(signedIn.credential.account == "ann")
                try await people.add("bob")
                let taken = await people.client.failure(of: UpdateAccount("bob", oidc: "17"))
                #expect(taken?.status == .conflict && taken?.field == "oidc")
                _ = try await people.client.request(UpdateAccount("ann", oidc: "18"))
                #expect(try await people.credential(signedIn.secret.credentialHash) == nil)
                #expect(try await people.client.request(UpdateAccount("ann", oidc: "")).oidc == nil)
                // Without a password it could not sign in.
                _ = try await people.client.request(
                    AddAccount(account: "sso", password: nil, role: .communicator, oidc: "19"))
                #expect(await people.client.failure(of: UpdateAccount("sso", oidc: ""))?.status == .conflict)
            }
        }

        @Test("Without a mapping of roles, only accounts that were added may sign in, with their own role")
        func withoutMapping() async throws {
            try await OpenIDHarness.with([:]) { harness in
                try await harness.add("17", "ann", roles: ["it"])
                #expect(try await harness.refusal("17")?.status == .forbidden)
                _ = try await harness.people.client.request(
                    AddAccount(account: "annie", password: nil, role: .communicator, oidc: "17"))
                let credential = try await harness.signIn("17").credential
                #expect(credential.account == "annie" && credential.role == .communicator)
            }
        }

        @Test("A code and a flow work once, with their own state, in the browser that began")
        func binding() async throws {
            try await OpenIDHarness.with { harness in
                try await harness.add("17", "ann", roles: ["staff"])
                let mine = try await harness.begin()
                let others = try await harness.begin()
                let third = try await harness.begin()
                let answer = try await harness.provider.signIn("17", at: mine.url)
                func status(_ command: FinishOpenIDSignIn) async -> ReplyStatus? {
                    await harness.people.client.failure(of: command)?.status
                }
                #expect(await status(harness.finish(mine.flow, answer, state: Secret("other"))) == .unauthenticated)
                #expect(await status(harness.finish(others.flow, answer)) == .unauthenticated)
                #expect(await status(harness.finish(Secret(mine.flow.text.dropLast() + "?"), answer)) == .unauthenticated)
                // The code of another browser, with its own state: PKCE and the nonce refuse it.
                let mixed = harness.finish(others.flow, answer, state: harness.parameter("state", of: others.url))
                #expect(await status(mixed) == .unauthenticated)
                // Used up, whatever comes now.
                let late = try await harness.provider.signIn("17", at: others.url)
                #expect(await status(harness.finish(others.flow, late)) == .unauthenticated)
                #expect(await status(harness.finish(mine.flow, answer)) == nil)
                #expect(await status(harness.finish(mine.flow, answer)) == .unauthenticated)
                let wrong = harness.finish(
                    third.flow, answer, state: harness.parameter("state", of: third.url), code: Secret("wrong"))
                #expect(await status(wrong) == .unauthenticated)
            }
        }

        @Test("A sign-in at the provider may do nothing before the account's second factor is shown, even after a confirmation")
        func secondFactor() async throws {
            try await OpenIDHarness.with { harness in
                let (people, client) = (harness.people, harness.people.client)
                try await people.add("ann")
                _ = try await client.request(UpdateAccount("ann", oidc: "17"))
                try await harness.add("17", "ann", roles: ["staff"])
                let earlier = try await harness.signIn("17")
                _ = try await client.request(UpdateAccount("ann", secondFactorRequired: true))
                #expect(try await people.credential(earlier.hash)?.secondFactor == .required)
                #expect(try await harness.signIn("17").credential.secondFactor == .required)

                let secret = try await client.request(BeginSecondFactor("ann")).secret
                let totp = try #require(TOTP(secret: secret))
                let code = Secret(totp.code(step: TOTP.step(at: .now)))
                let codes = try await client.request(ConfirmSecondFactor("ann", code: code)).recoveryCodes
                #expect(try await people.credential(earlier.hash)?.secondFactor == .set)
                let signedIn = try await harness.signIn("17")
                #expect(signedIn.credential.secondFactor == .pending)
                let confirmed = try await harness.signIn("17", confirms: signedIn.hash)
                #expect(confirmed.credential.secondFactor == .pending && confirmed.credential.confirmedUntil != nil)
                func show(_ code: Secret) -> ShowSecondFactor {
                    ShowSecondFactor(hash: confirmed.hash, code: code, address: "192.0.2.1")
                }
                let wrong = try #require(await client.failure(of: show(Secret("000000"))))
                #expect(wrong.status == .unauthenticated && wrong.field == "code")
                #expect(try await people.credential(confirmed.hash)?.secondFactor == .pending)
                #expect(try await client.request(show(codes[0])).secondFactor == .set)
                #expect(try await people.credential(confirmed.hash)?.secondFactor == .set)
                // A code that was shown does not count for another sign-in.
                let other = try await harness.signIn("17")
                #expect(other.credential.secondFactor == .pending)
                let late = try await people.tooManyAttempts {
                    await client.failure(of: ShowSecondFactor(hash: other.hash, code: codes[0], address: "192.0.2.9"))
                }
                #expect(late.retryAfter != nil)
            }
        }

        @Test("A claim that is set up for it replaces the account's second factor")
        func providersSecondFactor() async throws {
            let settings = ["MSI_OIDC_SECOND_FACTOR_CLAIM": "assurance", "MSI_OIDC_SECOND_FACTORS": "mfa,hardware"]
            try await OpenIDHarness.with(settings) { harness in
                let client = harness.people.client
                _ = try await client.request(AddAccount(account: "ann", password: nil, role: .communicator, oidc: "17"))
                _ = try await client.request(UpdateAccount("ann", secondFactorRequired: true))
                for (assurance, state) in [("password", SecondFactor.required), ("mfa", .none)] {
                    try await harness.provider.add("17", ["assurance": ["other", .string(assurance)]])
                    #expect(try await harness.signIn("17").credential.secondFactor == state)
                }
            }
        }

        @Test("The same person confirms a sign-in by the password again, which gets a successor; another person does not")
        func confirmation() async throws {
            try await OpenIDHarness.with { harness in
                let people = harness.people
                try await harness.add("17", "ann", roles: ["it"])
                try await harness.add("18", "bob", roles: ["staff"])
                let first = try await harness.signIn("17")
                #expect(first.credential.confirmedUntil == nil)
                let hash = first.secret.credentialHash
                let url = try await harness.begin(confirms: hash).url
                #expect(url.contains("prompt=login&max_age=0"))
                _ = try await harness.signIn("18")
                #expect(try await harness.refusal("18", confirms: hash)?.status == .unauthenticated)
                #expect(try await people.credential(hash) != nil)

                let second = try await harness.signIn("17", confirms: hash)
                #expect(second.credential.account == "ann" && second.credential.confirmedUntil != nil)
                #expect(try await people.credential(hash) == nil)
                let changes = try await people.changes(after: first.credential.sequence).changes
                #expect(changes.contains(CredentialChange(of: hash, ended: true)))
                // The sign-in has ended: there is nothing to confirm.
                #expect(try await harness.refusal("17", confirms: hash)?.status == .unauthenticated)
            }
        }
    }
}
