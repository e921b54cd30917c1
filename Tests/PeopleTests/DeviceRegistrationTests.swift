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
                for name in ["ann@example.edu", "an", String(repeating: "a", count: 33)] {
                    let account = try #require(AccountName(name))
                    let failure = await people.client.failure(
                        of: try await people.add(account, RunningPeople.password(of: account)))
                    #expect(failure?.status == .invalid && failure?.field == "account", "\(name)")
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
        @Test("Each is used once, and none is forgotten while it is valid")
        func used() {
            var used = UsedChallenges()
            let start: UnixMilliseconds = 1_796_000_000_000
            let (early, late) = (ObjectID(), ObjectID())
            #expect(used.use(early, now: start) == .first)
            #expect(used.use(late, now: start + PersonLimits.nonceTime - 1) == .first)
            for later in [0, 1, 2] {
                let now = start + PersonLimits.nonceTime + Milliseconds(rawValue: Int64(later))
                #expect(used.use(ObjectID(), now: now) == .first)
                #expect(used.use(late, now: now) == .again)
            }
            #expect(used.use(late, now: start + PersonLimits.nonceTime * 2 - 1) == .again)
        }

        @Test("If too many are used within a time, no further one is")
        func full() {
            var used = UsedChallenges(maxNonces: 2)
            let start: UnixMilliseconds = 1_796_000_000_000
            for _ in 0..<2 { #expect(used.use(ObjectID(), now: start) == .first) }
            #expect(used.use(ObjectID(), now: start) == .full)
            #expect(used.use(ObjectID(), now: start + PersonLimits.nonceTime) == .first)
        }

        @Test("After the clock was set back, nonces are used as before, and none of the future")
        func setBack() throws {
            let clock = TestClock()
            let challenges = Challenges(now: { clock.now })
            let future = try challenges.make().nonce
            clock.pass(.seconds(-3_600))
            #expect(throws: CommandFailure.self) { try challenges.use(future) }
            try challenges.use(try challenges.make().nonce)
            var used = UsedChallenges(maxNonces: 1)
            let start: UnixMilliseconds = 1_796_000_000_000
            #expect(used.use(ObjectID(), now: start) == .first)
            #expect(used.use(ObjectID(), now: start - .seconds(3_600)) == .first)
        }
    }
}
