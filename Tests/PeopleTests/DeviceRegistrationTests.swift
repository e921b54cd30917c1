import Base
import Bus
import Schemas
import ServiceKit
import TestSupport
import Testing

@testable import People

extension PeopleServiceTests {
    @Suite("Registrations of students", .timeLimit(.minutes(10)))
    struct DeviceRegistrationTests {
        @Test(
            "A name is given once, a repeated request has the same answer, and nobody else's has", arguments: StoreKind.allCases)
        func repeated(kind: StoreKind) async throws {
            try await RunningPeople.with(kind) { people in
                let credential = RunningPeople.password(of: "ann")
                let first = try await people.client.request(try await people.add("ann", credential, key: "key-1"))
                #expect(try await people.client.request(try await people.add("ann", credential, key: "key-1")) == first)
                for key in ["key-2", nil] {
                    let failure = await people.client.failure(of: try await people.add("ann", credential, key: key))
                    #expect(failure?.status == .conflict && failure?.field == "account")
                }
                // Who knows the key alone learns nothing.
                let guess = RunningPeople.password(of: "ann", Secret("another password"))
                let wrong = await people.client.failure(of: try await people.add("ann", guess, key: "key-1"))
                #expect(wrong?.status == .unauthenticated && wrong?.field == "password")
                let other = RunningPeople.password(of: "ANN")
                #expect(await people.client.failure(of: try await people.add("ANN", other))?.field == "account")
                _ = try await people.client.request(RemoveAccount("ann"))
                #expect(
                    await people.client.failure(of: try await people.add("ann", credential, key: "key-1"))?.status
                        == .conflict)
            }
        }

        @Test("Names that look like mail addresses, short ones, and those of other credentials are invalid")
        func names() async throws {
            try await RunningPeople.with(.sqlite) { people in
                for name in ["ann@example.edu", "an", String(repeating: "a", count: 33), "-ann", "..."] {
                    let account = try #require(AccountName(name))
                    let failure = await people.client.failure(
                        of: try await people.add(account, RunningPeople.password(of: account)))
                    #expect(failure?.status == .invalid && failure?.field == "account", "\(name)")
                }
                for name in ["import", "Requests"] as [AccountName] {
                    let failure = await people.client.failure(of: try await people.add(name, RunningPeople.password(of: name)))
                    #expect(failure?.status == .conflict && failure?.field == "account", "\(name)")
                }
                let other = await people.client.failure(of: try await people.add("ann", RunningPeople.password(of: "ben")))
                #expect(other?.status == .invalid && other?.field == "credential.account")
                let weak = await people.client.failure(
                    of: try await people.add("ann", RunningPeople.password(of: "ann", Secret("password"))))
                #expect(weak?.status == .invalid && weak?.field == "credential.password")
            }
        }

        @Test("By default nobody registers with a password; with a setting those who have a code do")
        func modes() async throws {
            try await RunningPeople.with(.sqlite, settings: ["MSI_REGISTRATION": "off"]) { people in
                let failure = await people.client.failure(
                    of: try await people.add("ann", RunningPeople.password(of: "ann")))
                #expect(failure?.status == .forbidden && failure?.field == nil)
                let password = try await people.client.request(ListProviders()).providers.first { $0.provider == .password }
                #expect(password?.registers == false && password?.flow == .form)
            }
            try await RunningPeople.withAdmin(.sqlite, settings: ["MSI_REGISTRATION": "code"]) { people in
                let password = try await people.client.request(ListProviders()).providers.first { $0.provider == .password }
                #expect(password?.registers == true && password?.needsCode == true)
                let credential = RunningPeople.password(of: "ann")
                let missing = await people.client.failure(of: try await people.add("ann", credential))
                #expect(missing?.status == .forbidden && missing?.field == "access_code")
                let wrong = await people.client.failure(
                    of: try await people.add("ann", credential, code: Secret("AAAA-BBBB-CCCC")))
                #expect(wrong?.status == .forbidden && wrong?.field == "access_code")
                let code = try await people.client.request(
                    AddAccessCode(grants: .professor, uses: 1, expires: .now + .seconds(3_600))
                ).code
                let ann = try await people.client.request(try await people.add("ann", credential, code: code))
                #expect(ann.professor == true)
                let used = await people.client.failure(
                    of: try await people.add("ben", RunningPeople.password(of: "ben"), code: code))
                #expect(used?.status == .forbidden && used?.field == "access_code")
                #expect(try await people.signIn(credential).signedIn.person.professor == true)
            }
        }

        @Test("Registrations are limited by address and in all, and counted again after an hour")
        func limits() {
            var counts = RegistrationCounts(maxPerAddress: 2, maxInAll: 3)
            let (one, other) = (IPAddress("192.0.2.1"), IPAddress("192.0.2.2"))
            let now = ContinuousClock.now
            #expect(counts.count(from: one, now: now) == nil && counts.count(from: one, now: now) == nil)
            #expect(counts.count(from: one, now: now + .seconds(60)) == .seconds(3_540))
            #expect(counts.count(from: nil, now: now) == nil)
            #expect(counts.count(from: other, now: now) == .seconds(3_600))
            #expect(counts.count(from: one, now: now + .seconds(3_600)) == nil)
        }
    }

    @Suite("Nonces")
    struct DeviceChallengeTests {
        /// Why a nonce cannot be used.
        private func refusal(of nonce: Secret, _ changes: PeopleChanges, at now: UnixMilliseconds) async -> CommandFailure? {
            do {
                try await changes.make(by: .program) { change in
                    try change.transaction.use(change.transaction.challenge(nonce, at: now))
                }
                return nil
            } catch {
                return error as? CommandFailure
            }
        }

        @Test("Each is used once while it is valid, and then no more", arguments: StoreKind.ofRules)
        func used(kind: StoreKind) async throws {
            try await withPeopleChanges(kind) { changes, clock in
                let challenges = Challenges(store: changes.store, now: { clock.now })
                let (nonce, unused) = (try await challenges.make().nonce, try await challenges.make().nonce)
                #expect(await refusal(of: nonce, changes, at: clock.now) == nil)
                for _ in 0..<4 {
                    let again = await refusal(of: nonce, changes, at: clock.now)
                    #expect(again?.status == .unauthenticated && again?.field == "nonce")
                    clock.pass(PersonLimits.nonceTime - .seconds(60))
                }
                #expect(await refusal(of: unused, changes, at: clock.now)?.field == "nonce")
            }
        }

        @Test("After the clock was set back, nonces are used as before, and none of the future; clocks may differ by a minute")
        func setBack() async throws {
            try await withPeopleChanges(.sqlite) { changes, clock in
                let challenges = Challenges(store: changes.store, now: { clock.now })
                let future = try await challenges.make().nonce
                clock.pass(.seconds(-61))
                #expect(await refusal(of: future, changes, at: clock.now)?.field == "nonce")
                let present = try await challenges.make().nonce
                #expect(await refusal(of: present, changes, at: clock.now) == nil)
                clock.pass(.seconds(1))
                #expect(await refusal(of: future, changes, at: clock.now) == nil)
                #expect(await refusal(of: future, changes, at: clock.now)?.field == "nonce")
            }
        }
    }
}
