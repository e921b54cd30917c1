import Base
import Bus
import Crypto
import FoundationEssentials
import Schemas
import Store
import TestSupport
import Testing

@testable import People

extension PeopleServiceTests {
    @Suite("Sign-ins at providers", .timeLimit(.minutes(10)))
    struct ProviderSignInTests {
        private func withProviders(
            _ kind: StoreKind = .sqlite, settings: [String: String] = [:], clock: TestClock? = nil,
            _ body: (RunningPeople, TestIdentities) async throws -> Void
        ) async throws {
            let identities = try TestIdentities()
            let keys = try TestKeys(identities.jwk)
            try await RunningPeople.with(
                kind, settings: TestClaims.settings.merging(settings) { $1 },
                keys: [.google: keys, .firebase: keys, .university: keys], clock: clock
            ) { people in
                try await people.setUp()
                try await body(people, identities)
            }
        }

        private func google(
            _ subject: String, _ identities: TestIdentities, at now: UnixMilliseconds = .now, _ changes: JSONValue = [:]
        ) throws -> PersonCredential {
            let token = try identities.token(.changed(TestClaims.google(subject, at: now), changes))
            return PersonCredential(provider: .google, idToken: Secret(token))
        }

        private func university(
            _ subject: String, _ identities: TestIdentities, _ changes: JSONValue = [:]
        ) throws -> PersonCredential {
            let token = try identities.token(.changed(TestClaims.university(subject, at: .now), changes))
            return PersonCredential(provider: .university, idToken: Secret(token))
        }

        @Test("One token finds no account, registers, and signs in; no other device can use it", arguments: StoreKind.ofRules)
        func oneToken(kind: StoreKind) async throws {
            try await withProviders(kind) { people, identities in
                let credential = try google("17", identities)
                let (device, thief) = (TestDevice(), TestDevice())
                #expect(try await people.refusal(of: credential, on: device)?.status == .notFound)
                func expectReplay(_ failure: CommandFailure?) {
                    #expect(failure?.status == .unauthenticated && failure?.field == "id_token")
                    #expect(failure?.message.contains("used by another device") == true)
                }
                // A stolen one neither registers nor signs in.
                expectReplay(await people.client.failure(of: try await people.add("thief", credential, on: thief)))
                let person = try await people.client.request(try await people.add("ann", credential, on: device))
                #expect(person.identities.map(\.provider) == [.google])
                #expect(person.identities.first?.email == "17@example.edu")
                expectReplay(try await people.refusal(of: credential, on: thief))
                let ann = try await people.signIn(credential, on: device)
                #expect(ann.signedIn.person == person)
                #expect(try await people.signIn(credential, on: device).id == ann.id)
                #expect(people.log.has("replayed"))
                let again = await people.client.failure(
                    of: try await people.add("ann2", try google("17", identities, ["jti": "2"])))
                #expect(again?.status == .conflict && again?.field == nil)
            }
        }

        @Test("A second signature of the same claims, which ECDSA has, makes no second token")
        func secondSignature() async throws {
            let key = P256.Signing.PrivateKey()
            let point = key.publicKey.rawRepresentation
            let keys = try TestKeys([
                "kty": "EC", "crv": "P-256", "alg": "ES256", "kid": "1", "x": .string(Data(point.prefix(32)).base64URL),
                "y": .string(Data(point.suffix(32)).base64URL),
            ])
            let header = Data(#"{"alg":"ES256","kid":"1"}"#.utf8).base64URL
            let signed = "\(header).\(TestClaims.university("17", at: .now).data.base64URL)"
            let signature = try key.signature(for: Data(signed.utf8)).rawRepresentation
            func credential(_ signature: Data) -> PersonCredential {
                PersonCredential(provider: .university, idToken: Secret("\(signed).\(signature.base64URL)"))
            }
            try await RunningPeople.with(.sqlite, settings: TestClaims.settings, keys: [.university: keys]) { people in
                #expect(try await people.refusal(of: credential(signature))?.status == .notFound)
                let stolen = try await people.refusal(of: credential(Self.second(signature)))
                #expect(stolen?.status == .unauthenticated && stolen?.message.contains("used by another device") == true)
            }
        }

        /// The other valid signature of a text by P-256: with the group's order minus `s` in the place of `s`.
        private static func second(_ signature: Data) -> Data {
            let order: [UInt8] = [
                0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
            ]
            var bytes = Array(signature)
            var borrow = 0
            for index in (0..<32).reversed() {
                let difference = Int(order[index]) - Int(bytes[32 + index]) - borrow
                bytes[32 + index] = UInt8(truncatingIfNeeded: difference)
                borrow = difference < 0 ? 1 : 0
            }
            return Data(bytes)
        }

        @Test("A used token belongs to its device until it ends", arguments: StoreKind.ofRules)
        func usedToken(kind: StoreKind) async throws {
            try await withPeopleChanges(kind) { changes, clock in
                func use(by device: String) async -> IDTokenRefusal? {
                    let token = UsedTokenDocument(Secret("token"), by: device, expires: clock.now + .seconds(60))
                    do {
                        try await changes.make(by: .program) { try $0.transaction.use(token) }
                        return nil
                    } catch {
                        return error as? IDTokenRefusal
                    }
                }
                #expect(await use(by: "a") == nil)
                clock.pass(.seconds(59))
                #expect(await use(by: "a") == nil)
                #expect(await use(by: "b") == .replayed)
                clock.pass(.seconds(1))
                #expect(await use(by: "b") == nil)
                #expect(await use(by: "a") == .replayed)
            }
        }

        @Test("Several ways lead to one account; the last one stays", arguments: StoreKind.ofRules)
        func link(kind: StoreKind) async throws {
            try await withProviders(kind) { people, identities in
                let ann = try await people.signedIn("ann")
                _ = try await people.signedIn("ben")
                let context = ann.context
                func link(_ credential: PersonCredential) -> LinkIdentity {
                    LinkIdentity(credential: credential, device: ann.id, address: RunningPeople.address)
                }
                let linked = try await people.client.request(link(try google("17", identities)), context: context)
                #expect(linked.identities.map(\.provider) == [.google, .password])
                let both = try await people.client.request(link(try university("u17", identities)), context: context)
                #expect(Set(both.identities.map(\.provider)) == [.google, .university, .password])
                #expect(try await people.client.request(FindAccount("ann")).oidc == "u17")
                #expect(try await people.signIn(try google("17", identities, ["jti": "2"])).account == "ann")
                #expect(try await people.signIn(try university("u17", identities, ["jti": "2"])).account == "ann")
                // Another one of the same provider, and somebody else's.
                let second = await people.client.failure(of: link(try google("18", identities)), context: context)
                #expect(second?.status == .conflict)
                let bens = CallerContext(actor: "ben")
                let bensDevice = try #require(try await people.client.request(ListDevices("ben")).devices.first?.id)
                let taken = await people.client.failure(
                    of: LinkIdentity(
                        credential: try google("17", identities, ["jti": "3"]), device: bensDevice,
                        address: RunningPeople.address),
                    context: bens)
                #expect(taken?.status == .conflict)

                for provider in [IdentityProvider.password, .university] {
                    _ = try await people.client.request(UnlinkIdentity(provider), context: context)
                }
                #expect(try await people.refusal(of: RunningPeople.password(of: "ann"))?.field == "password")
                #expect(try await people.refusal(of: try university("u17", identities, ["jti": "4"]))?.status == .notFound)
                let last = await people.client.failure(of: UnlinkIdentity(.google), context: context)
                #expect(last?.status == .conflict)
                #expect(await people.client.failure(of: UnlinkIdentity(.firebase), context: context)?.status == .notFound)
                let password = try await people.client.request(link(RunningPeople.password(of: "ann")), context: context)
                #expect(password.identities.map(\.provider) == [.google, .password])
                _ = try await people.signIn(RunningPeople.password(of: "ann"))
            }
        }

        @Test("A claim of the university decides who may register, and gives the professor's mark at each sign-in")
        func claims() async throws {
            let settings = [
                "MSI_OIDC_STUDENTS": "student", "MSI_OIDC_PROFESSORS": "faculty", "MSI_OIDC_ROLE_CLAIM": "affiliation",
            ]
            try await withProviders(settings: settings) { people, identities in
                let guest = await people.client.failure(
                    of: try await people.add("guest", try university("1", identities, ["affiliation": ["alum"]])))
                #expect(guest?.status == .forbidden)
                let device = TestDevice()
                let student = try university("2", identities, ["affiliation": ["member", "student"]])
                #expect(try await people.client.request(try await people.add("ann", student, on: device)).professor == nil)
                #expect(try await people.signIn(student, on: device).signedIn.person.role == .student)
                let faculty = try university("2", identities, ["affiliation": "faculty"])
                #expect(try await people.signIn(faculty).signedIn.person.professor == true)
                // The mark stays: a super user or a code may have given it.
                #expect(try await people.signIn(try university("2", identities, ["jti": "2"])).signedIn.person.professor == true)
                // Who may not register signs in if somebody else has added the account.
                let list = ImportAccounts(rows: [ImportedAccount(account: "guest", oidc: "1")], dryRun: false)
                _ = try await people.client.request(list)
                #expect(try await people.signIn(try university("1", identities, ["jti": "2"])).account == "guest")
            }
        }

        @Test("A second factor is asked for after a provider too, and a provider's address is kept up to date")
        func secondFactor() async throws {
            try await withProviders { people, identities in
                let device = TestDevice()
                let credential = try google("17", identities)
                _ = try await people.client.request(try await people.add("ann", credential, on: device))
                let secret = try await people.client.request(BeginSecondFactor("ann")).secret
                let totp = try #require(TOTP(secret: secret))
                let code = Secret(totp.code(step: TOTP.step(at: .now)))
                let codes = try await people.client.request(ConfirmSecondFactor("ann", code: code)).recoveryCodes
                let missing = try await people.refusal(of: credential, on: device)
                #expect(missing?.status == .unauthenticated && missing?.field == "code")
                let token = try identities.token(.changed(TestClaims.google("17", at: .now), ["email": "new@example.edu"]))
                let coded = PersonCredential(provider: .google, idToken: Secret(token), code: codes[0])
                let ann = try await people.signIn(coded, on: device)
                #expect(ann.signedIn.person.identities.first?.email == "new@example.edu")
            }
        }

        @Test("The codes of an account that was disabled because nobody used it are limited as well")
        func unusedCodes() async throws {
            let identities = try TestIdentities()
            let keys = try TestKeys(identities.jwk)
            let device = TestDevice()
            let credential = try google("17", identities)
            try await withTemporaryFolder { folder in
                try await RunningPeople.with(in: folder, settings: TestClaims.settings, keys: [.google: keys]) { people in
                    _ = try await people.client.request(try await people.add("ann", credential, on: device))
                    let secret = try await people.client.request(BeginSecondFactor("ann")).secret
                    let totp = try #require(TOTP(secret: secret))
                    let code = Secret(totp.code(step: TOTP.step(at: .now)))
                    _ = try await people.client.request(ConfirmSecondFactor("ann", code: code))
                }
                try await withPeopleStore(in: folder) { store in
                    _ = try await store.update("ann", in: PeopleStore.accounts) { ($0.disabled, $0.unusedSince) = (true, .now) }
                }
                try await RunningPeople.with(in: folder, settings: TestClaims.settings, keys: [.google: keys]) { people in
                    let wrong = PersonCredential(provider: .google, idToken: credential.idToken, code: Secret("000000"))
                    let limited = try await people.tooManyAttempts {
                        do {
                            return try await people.refusal(of: wrong, on: device)
                        } catch {
                            return nil
                        }
                    }
                    #expect(limited.retryAfter != nil)
                    #expect(try await people.client.request(FindAccount("ann")).disabled)
                }
            }
        }

        @Test("A removed account of the staff is refused, and a disabled one has the field of the token")
        func removed() async throws {
            try await withProviders { people, identities in
                for name in ["ann", "ben"] as [AccountName] {
                    let oidc = name.description
                    _ = try await people.client.request(
                        AddAccount(account: name, password: nil, role: .communicator, oidc: oidc))
                }
                let ann = try await people.signIn(try university("ann", identities))
                _ = try await people.client.request(RemoveAccount("ann"))
                #expect(try await ann.refusal()?.field == "device")
                #expect(try await people.deviceChanges().ended.map(\.account) == ["ann"])
                _ = try await people.client.request(UpdateAccount("ben", disabled: true))
                #expect(try await people.refusal(of: try university("ann", identities, ["jti": "2"]))?.status == .forbidden)
                let disabled = try await people.refusal(of: try university("ben", identities))
                #expect(disabled?.status == .unauthenticated && disabled?.field == "id_token")
            }
        }

        @Test("The providers that are set up are offered, with their pages; an emulator stands for all of them")
        func offered() async throws {
            let settings = [
                "MSI_FIREBASE_SIGN_IN_URL": "https://campus.example.edu/sign-in", "MSI_FACEBOOK_APP_ID": "1234567890",
                "MSI_FACEBOOK_APP_SECRET": "a secret",
            ]
            try await withProviders(settings: settings) { people, _ in
                let offered = try await people.client.request(ListProviders()).providers
                #expect(offered.map(\.provider) == [.university, .google, .firebase, .facebook, .password])
                #expect(offered.map(\.flow) == [.code, .fragment, .fragment, .fragment, .form])
                #expect(offered.map(\.token) == [nil, "id_token", "id_token", "access_token", nil])
                #expect(
                    offered[1].url?.hasPrefix("https://accounts.google.com/o/oauth2/v2/auth?client_id=web.apps.example&") == true)
                #expect(offered[2].url == "https://campus.example.edu/sign-in")
                #expect(offered[3].url?.hasPrefix("https://www.facebook.com/v25.0/dialog/oauth?client_id=1234567890&") == true)
                #expect(!offered.contains { $0.url?.contains("secret") == true } && !people.log.has("an identity emulator"))
            }
            let emulated = settings.merging(["MSI_IDENTITY_ENDPOINT": "http://127.0.0.1:8444"]) { $1 }
            try await withProviders(settings: emulated) { people, _ in
                let offered = try await people.client.request(ListProviders()).providers
                #expect(offered[1].url?.hasPrefix("http://127.0.0.1:8444/google/o/oauth2/v2/auth?") == true)
                #expect(offered[3].url?.hasPrefix("http://127.0.0.1:8444/facebook/v25.0/dialog/oauth?") == true)
                #expect(people.log.has("an identity emulator stands for"))
            }
        }
    }
}
