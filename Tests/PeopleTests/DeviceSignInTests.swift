import Base
import Bus
import Crypto
import DeviceTokens
import FoundationEssentials
import Schemas
import TestSupport
import Testing

@testable import People

extension PeopleServiceTests {
    @Suite("Sign-ins on devices", .timeLimit(.minutes(10)))
    struct DeviceSignInTests {
        /// Checks a token as a gateway does.
        private func claims(of token: Secret, by people: RunningPeople) async throws -> DeviceTokenClaims {
            var keys: [String: P256.Signing.PublicKey] = [:]
            for key in try await people.deviceChanges().keys {
                let point = try #require(Data(base64URL: key.key))
                keys[key.id] = try P256.Signing.PublicKey(x963Representation: point)
            }
            return try DeviceToken.claims(of: token.text, keys: keys)
        }

        @Test("A person registers, signs in, and gets tokens that a gateway can check", arguments: StoreKind.allCases)
        func signIn(kind: StoreKind) async throws {
            try await RunningPeople.withAdmin(kind) { people in
                let ann = try await people.signedIn("Ann")
                let person = ann.signedIn.person
                #expect(person.account.description == "Ann" && person.role == .student && person.professor == nil)
                #expect(person.identities.map(\.provider) == [.password])
                let claims = try await claims(of: ann.signedIn.token, by: people)
                #expect(claims.sub == "ann" && claims.dev == ann.id && claims.role == .student && claims.prof == nil)
                #expect(claims.exp - claims.iat == 3_600 && ann.signedIn.expires.seconds == claims.exp)
                try claims.check(at: .now, isOffline: false)
                let second = try await ann.token()
                #expect(try await self.claims(of: second.token, by: people).dev == ann.id)
                #expect(try await people.client.request(GetPerson(), context: ann.context) == person)
                let devices = try await people.client.request(ListDevices("ann")).devices
                #expect(devices.map(\.id) == [ann.id] && devices.first?.platform == .web && devices.first?.push == nil)
                // Nothing of it is for those who know only the staff.
                #expect(try await people.changes(after: 0).changes.allSatisfy { $0.account != "ann" })
                #expect(await people.refusal("ann")?.status == .forbidden)
            }
        }

        @Test("The same key is the same device, with what it says now; a new key is another one")
        func sameDevice() async throws {
            try await RunningPeople.with(.sqlite) { people in
                let ann = try await people.signedIn("ann")
                let credential = RunningPeople.password(of: "ann")
                #expect(try await people.signIn(credential, on: ann.device).id == ann.id)
                let phone = try await people.signIn(credential, on: TestDevice(.android, language: "ar"))
                #expect(phone.id != ann.id)
                let devices = try await people.client.request(ListDevices("ann")).devices
                #expect(devices.map(\.id) == [phone.id, ann.id] && devices.map(\.language) == ["ar", "en"])
                #expect(try await people.deviceChanges().ended.isEmpty)
            }
        }

        @Test("A nonce is valid once, and no proof is taken for another purpose, nonce, subject or key")
        func proofs() async throws {
            try await RunningPeople.with(.sqlite) { people in
                let ann = try await people.signedIn("ann")
                let credential = RunningPeople.password(of: "ann")
                func failure(_ command: BeginDevice) async -> String? { await people.client.failure(of: command)?.field }
                let command = try await people.begin(credential, on: ann.device)
                #expect(await failure(command) == nil)
                #expect(await failure(command) == "nonce")
                let nonce = try await people.nonce()
                func begin(_ proof: String, nonce: Secret) -> BeginDevice {
                    BeginDevice(
                        credential: credential, device: ann.device.document, nonce: nonce, proof: proof,
                        address: RunningPeople.address)
                }
                // Only what it allows uses a nonce up.
                for _ in 0..<2 { #expect(await failure(begin(command.proof, nonce: nonce)) == "proof") }
                #expect(await failure(begin(command.proof, nonce: Secret("AAAA"))) == "nonce")
                for wrong in [
                    try await people.nonce(), try await people.nonce(), try await people.nonce(), try await people.nonce(),
                ].enumerated() {
                    let nonce = wrong.element
                    let proof =
                        switch wrong.offset {
                        case 0: try ann.device.proof(of: RunningPeople.password(of: "ben"), nonce: nonce)
                        case 1: try ann.device.proof(.token, nonce: nonce, subject: credential.proofSubject)
                        case 2: try TestDevice().proof(of: credential, nonce: nonce)
                        default: Data(repeating: 0, count: 64).base64URL
                        }
                    #expect(await failure(begin(proof, nonce: nonce)) == "proof", "\(wrong.offset)")
                }
                let token = try await people.nonce()
                #expect(try await ann.refusal(nonce: token) == nil)
                #expect(try await ann.refusal(nonce: token)?.field == "nonce")
            }
        }

        @Test("A nonce ends after two minutes, and is valid once, also after a restart")
        func nonceEnd() async throws {
            try await withTemporaryFolder { folder in
                let clock = TestClock()
                let (ann, early, used) = try await RunningPeople.with(in: folder, clock: clock) { people in
                    let ann = try await people.signedIn("ann")
                    let late = try await people.nonce()
                    clock.pass(PersonLimits.nonceTime)
                    #expect(try await ann.refusal(nonce: late)?.field == "nonce")
                    let used = try await people.nonce()
                    #expect(try await ann.refusal(nonce: used) == nil)
                    return (ann, try await people.nonce(), used)
                }
                try await RunningPeople.with(in: folder, clock: clock) { people in
                    let again = SignedInPerson(client: people.client, device: ann.device, signedIn: ann.signedIn)
                    #expect(try await again.refusal(nonce: used)?.field == "nonce")
                    #expect(try await again.refusal(nonce: early) == nil)
                    #expect(try await again.refusal(nonce: early)?.field == "nonce")
                    // A month later it is still signed in.
                    clock.pass(.seconds(30 * 86_400))
                    let token = try await again.token().token
                    #expect(try await claims(of: token, by: people).dev == ann.id)
                    #expect(try await people.client.request(ListDevices("ann")).devices.first?.seen == clock.now)
                }
            }
        }

        @Test("Each instance of the service takes the nonces of the others, and each nonce is valid once in all")
        func instances() async throws {
            let url = try #require(try await StoreKind.mongodb.newDatabaseURL())
            try await withTemporaryFolder { folder in
                try await withTemporaryFolder { other in
                    try await RunningPeople.with(in: folder, settings: ["MSI_DATABASE_URL": url]) { people in
                        let ann = try await people.signedIn("ann")
                        try await RunningPeople.with(in: other, settings: ["MSI_DATABASE_URL": url]) { second in
                            let there = SignedInPerson(client: second.client, device: ann.device, signedIn: ann.signedIn)
                            let first = try await people.nonce()
                            #expect(try await there.refusal(nonce: first) == nil)
                            #expect(try await ann.refusal(nonce: first)?.field == "nonce")
                            let back = try await second.nonce()
                            #expect(try await ann.refusal(nonce: back) == nil)
                        }
                    }
                }
            }
        }

        @Test("A device that has signed out gets no token, and the end is announced", arguments: StoreKind.ofRules)
        func signOut(kind: StoreKind) async throws {
            try await RunningPeople.with(kind) { people in
                let ann = try await people.signedIn("ann")
                let other = try await people.signIn(RunningPeople.password(of: "ann"))
                _ = try await people.client.request(EndDevice(ann.id, of: "ann"), context: ann.context)
                let refusal = try await ann.refusal()
                #expect(refusal?.status == .unauthenticated && refusal?.field == "device")
                #expect(try await other.refusal() == nil)
                let ended = try await people.deviceChanges().ended
                #expect(ended.map(\.device) == [ann.id] && ended.first?.account == nil)
                let (anns, others) = (
                    try await claims(of: ann.signedIn.token, by: people), try await claims(of: other.signedIn.token, by: people)
                )
                #expect(ended[0].ends(anns) && !ended[0].ends(others))
                let again = await people.client.failure(of: EndDevice(ann.id, of: "ann"), context: ann.context)
                #expect(again?.status == .notFound)
                let strangers = await people.client.failure(of: EndDevice(other.id, of: "ben"), context: ann.context)
                #expect(strangers?.status == .notFound)
            }
        }

        @Test("A disabled account has no devices, and signs in nowhere", arguments: StoreKind.ofRules)
        func disabled(kind: StoreKind) async throws {
            try await RunningPeople.with(kind) { people in
                let ann = try await people.signedIn("ann")
                _ = try await people.client.request(UpdateAccount("ann", disabled: true))
                #expect(try await ann.refusal()?.field == "device")
                #expect(try await people.deviceChanges().ended.map(\.account) == ["ann"])
                let refusal = try await people.refusal(of: RunningPeople.password(of: "ann"))
                #expect(refusal?.status == .unauthenticated && refusal?.field == "password")
                let caller = await people.client.failure(of: GetPerson(), context: ann.context)
                #expect(caller?.status == .unauthenticated)
                _ = try await people.client.request(UpdateAccount("ann", disabled: false))
                // The device has to sign in again.
                #expect(try await ann.refusal()?.field == "device")
                #expect(try await people.signIn(RunningPeople.password(of: "ann"), on: ann.device).refusal() == nil)
            }
        }

        @Test("A device has one person at a time, and an account ten devices")
        func limits() async throws {
            try await RunningPeople.with(.sqlite) { people in
                let ann = try await people.signedIn("ann")
                let ben = try await people.signedIn("ben", on: ann.device)
                #expect(ben.id != ann.id)
                #expect(try await ann.refusal()?.field == "device")
                #expect(try await people.client.request(ListDevices("ann")).devices.isEmpty)
                var devices: [SignedInPerson] = [ben]
                for _ in 0..<PersonLimits.maxDevices {
                    devices.append(try await people.signIn(RunningPeople.password(of: "ben")))
                }
                #expect(try await ben.refusal()?.field == "device")
                for device in devices.dropFirst() { #expect(try await device.refusal() == nil) }
                #expect(try await people.deviceChanges().ended.map(\.device) == [ann.id, ben.id])
            }
        }

        @Test("An account signs in a limited number of times, and still gets tokens")
        func tooManySignIns() async throws {
            try await RunningPeople.with(.sqlite) { people in
                let ann = try await people.signedIn("ann")
                let credential = RunningPeople.password(of: "ann")
                for _ in 1..<PersonLimits.signIns { _ = try await people.signIn(credential, on: ann.device) }
                let limited = try await people.refusal(of: credential)
                #expect(limited?.status == .overloaded && limited?.retryAfter != nil)
                #expect(try await ann.refusal() == nil)
                _ = try await people.signedIn("ben")
            }
        }

        @Test("At the limit there is a sign-in each half minute, until there was none for ten minutes")
        func signInLimit() {
            let limits = SignInLimits()
            let now = ContinuousClock.now
            for _ in 0..<PersonLimits.signIns { #expect(limits.begin("ann", now: now) == nil) }
            #expect(limits.begin("ann", now: now) == .seconds(30))
            #expect(limits.begin("ben", now: now) == nil)
            #expect(limits.begin("ann", now: now + .seconds(30)) == nil)
            #expect(limits.begin("ann", now: now + .seconds(59)) == .seconds(1))
            for _ in 0..<PersonLimits.signIns { #expect(limits.begin("ann", now: now + .seconds(630)) == nil) }
        }

        @Test("An account with a second factor needs its code, with a password too")
        func secondFactor() async throws {
            try await RunningPeople.with(.sqlite) { people in
                _ = try await people.signedIn("ann")
                let secret = try await people.client.request(BeginSecondFactor("ann")).secret
                let totp = try #require(TOTP(secret: secret))
                let code = Secret(totp.code(step: TOTP.step(at: .now)))
                let codes = try await people.client.request(ConfirmSecondFactor("ann", code: code)).recoveryCodes
                let missing = try await people.refusal(of: RunningPeople.password(of: "ann"))
                #expect(missing?.status == .unauthenticated && missing?.field == "code")
                #expect(try await people.refusal(of: RunningPeople.password(of: "ann", code: Secret("000000")))?.field == "code")
                _ = try await people.signIn(RunningPeople.password(of: "ann", code: codes[0]))
                #expect(try await people.refusal(of: RunningPeople.password(of: "ann", code: codes[0]))?.field == "code")
            }
        }

        @Test("A wrong name and a wrong password have the same answer, and are limited")
        func wrongPasswords() async throws {
            try await RunningPeople.with(.sqlite) { people in
                _ = try await people.signedIn("ann")
                let wrong = try await people.refusal(of: RunningPeople.password(of: "ann", Secret("wrong")))
                #expect(wrong?.status == .unauthenticated && wrong?.field == "password")
                #expect(try await people.refusal(of: RunningPeople.password(of: "nobody", Secret("wrong"))) == wrong)
                let limited = try await people.tooManyAttempts {
                    do {
                        return try await people.refusal(of: RunningPeople.password(of: "ann", Secret("wrong")))
                    } catch {
                        return nil
                    }
                }
                #expect(limited.retryAfter != nil)
            }
        }

        @Test("An account of the staff may use the app, where its tokens carry its role, and changes no sign-ins there")
        func staff() async throws {
            try await RunningPeople.withAdmin(.sqlite) { people in
                try await people.add("boss", role: .superUser)
                let boss = try await people.signIn(RunningPeople.password(of: "boss"))
                #expect(try await claims(of: boss.signedIn.token, by: people).role == .superUser)
                for failure in [
                    await people.client.failure(of: UnlinkIdentity(.password), context: boss.context),
                    await people.client.failure(
                        of: LinkIdentity(
                            credential: PersonCredential(provider: .google, idToken: Secret("a.b.c")), device: boss.id,
                            address: RunningPeople.address), context: boss.context),
                    await people.client.failure(
                        of: ChangePersonPassword(
                            current: RunningPeople.password, password: Secret("another password"), device: boss.id,
                            address: RunningPeople.address), context: boss.context),
                ] {
                    #expect(failure?.status == .forbidden)
                }
                // A new password ends its devices.
                _ = try await people.client.request(ChangePassword("boss", password: Secret("another password")))
                #expect(try await boss.refusal()?.field == "device")
            }
        }

        @Test("A new password ends the other devices, and needs the current one")
        func newPassword() async throws {
            try await RunningPeople.with(.sqlite) { people in
                let ann = try await people.signedIn("ann")
                let other = try await people.signIn(RunningPeople.password(of: "ann"))
                func change(_ current: Secret) -> ChangePersonPassword {
                    ChangePersonPassword(
                        current: current, password: Secret("another password"), device: ann.id, address: RunningPeople.address)
                }
                let wrong = await people.client.failure(of: change(Secret("wrong")), context: ann.context)
                #expect(wrong?.status == .unauthenticated && wrong?.field == "current")
                _ = try await people.client.request(change(RunningPeople.password), context: ann.context)
                #expect(try await ann.refusal() == nil)
                #expect(try await other.refusal()?.field == "device")
                #expect(try await people.refusal(of: RunningPeople.password(of: "ann"))?.field == "password")
                _ = try await people.signIn(RunningPeople.password(of: "ann", Secret("another password")))
            }
        }
    }
}
