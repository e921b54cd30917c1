import Bus
import Base
import Schemas
import Store
import TestSupport
import Testing

@testable import People

extension PeopleServiceTests {
    @Suite("Sign-ins over the bus")
    struct SignInTests {
        @Test("Signing in gives a credential, and signing out ends it", arguments: StoreKind.ofRules)
        func life(kind: StoreKind) async throws {
            try await RunningPeople.withAdmin(kind) { people in
                try await people.add("Ann")
                let before = UnixMilliseconds.now
                let signedIn = try await people.signIn("ANN")
                #expect(signedIn.secret.text.wholeMatch(of: /[A-Za-z0-9_-]{43}/) != nil)
                let credential = signedIn.credential
                #expect(credential.kind == .signIn && credential.account.description == "Ann" && credential.role == .communicator)
                #expect(credential.rights == [.read, .send] && credential.scope == nil && credential.isOperator == nil)
                #expect(credential.secondFactor == .none && credential.confirmedUntil == nil)
                let expires = try #require(credential.expires)
                #expect(expires >= before + PeopleLimits.signInIdleLimit && expires <= .now + PeopleLimits.signInIdleLimit)
                #expect(credential.maxExpires.map { $0 - expires } == .seconds(10 * 3_600))
                #expect(try await people.credential(signedIn.hash) == credential)
                #expect(try await people.signIn("ann").hash != signedIn.hash)

                _ = try await people.client.request(EndSignIn(hash: signedIn.hash))
                #expect(try await people.credential(signedIn.hash) == nil)
                let ended = CredentialChange(of: signedIn.hash, ended: true)
                #expect(try await people.changes(after: credential.sequence).changes.last == ended)
                _ = try await people.client.request(EndSignIn(hash: signedIn.hash))
            }
        }

        @Test("A wrong name, a wrong password and an account without a password have the same answer")
        func refusals() async throws {
            try await RunningPeople.withProviderThatIsAway { people in
                _ = try await people.client.request(
                    AddAccount(account: "sso", password: nil, role: .communicator, oidc: "1"))
                let expected = CommandFailure(.unauthenticated, "wrong account name or password")
                #expect(await people.refusal("admin", Secret("wrong")) == expected)
                #expect(await people.refusal("nobody", Secret("wrong")) == expected)
                #expect(await people.refusal("not a name!", Secret("wrong")) == expected)
                #expect(await people.refusal("sso", Secret("wrong")) == expected)
            }
        }

        @Test(
            "Wrong passwords from one address do not lock the account out, and are noted in the log and the audit log, without them"
        )
        func noLockOut() async throws {
            try await RunningPeople.withAdmin(.sqlite) { people in
                let signedIn = try await people.signIn()
                for address in ["2001:db8::1", "2001:db8::2", "2001:db8::3", "2001:db8::4", "2001:db8::5"] {
                    _ = await people.refusal("admin", Secret("a wrong password"), address: address)
                }
                // The addresses are one customer's.
                _ = try await people.tooManyAttempts {
                    await people.refusal("admin", Secret("a wrong password"), address: "2001:db8::6")
                }
                let confirmation = ConfirmSignIn(hash: signedIn.hash, password: RunningPeople.password, address: "2001:db8::1")
                #expect(try await people.client.request(confirmation).confirmedUntil != nil)
                _ = try await people.signIn(address: "198.51.100.7")

                var limited = AuditFilter()
                limited.action = "sign_in.limited"
                let list = ListAuditEntries(limit: 10, filter: limited)
                // The entry is written after the answer.
                try await eventually { try await !people.client.request(list).entries.isEmpty }
                let entries = try await people.client.request(list).entries.map(\.entry)
                #expect(entries.count == 1 && entries.first?.object == .account("admin"))
                #expect(entries.first?.actor == nil && entries.first?.address?.hasPrefix("2001:db8::") == true)
                #expect(entries.first?.after == ["wrong_passwords": 5])
                #expect(people.log.lines.count { $0.text.contains("wrong passwords:") } == 1)
                #expect(!people.log.has("a wrong password"))
            }
        }

        @Test("The entry about wrong passwords keeps no answer waiting, and is written before the service has stopped")
        func deferredEntry() async throws {
            try await withPasswordCheck { passwords, audit, store in
                let wrong = CommandFailure(.unauthenticated, "code: wrong code", field: "code")
                for _ in 0..<5 {
                    await #expect(throws: wrong) {
                        try await passwords.check(nil, for: .code("ann", address: "192.0.2.1")) { _ -> Void in throw wrong }
                    }
                }
                // Nothing writes yet, so no answer has waited.
                let before = try await store.snapshot { try $0.auditHead() }
                #expect(before == nil)
                let writing = Task { await audit.run() }
                writing.cancel()
                await writing.value
                let after = try await store.snapshot { try $0.auditHead() }
                #expect(after?.number == 1)
            }
        }

        @Test("Further sign-ins of an account give no further attempts to confirm its password")
        func confirmationsOfAllSignIns() async throws {
            try await withPasswordCheck { passwords, _, _ in
                var statuses: [ReplyStatus] = []
                for number in 0..<30 {
                    let signIn = Secret("sign-in \(number / 5)").credentialHash
                    do {
                        try await passwords.check(
                            Secret("wrong"), for: .confirmation("ann", signIn: signIn, address: "192.0.2.1")
                        ) { _ -> Void in Issue.record("a wrong password is accepted") }
                    } catch let failure as CommandFailure {
                        statuses.append(failure.status)
                    }
                }
                #expect(statuses.prefix(20).allSatisfy { $0 == .unauthenticated } && statuses.contains(.overloaded))
            }
        }

        /// Runs a test with the account ann, whose password is hashed fast.
        private func withPasswordCheck(
            _ body: (PasswordCheck, DeferredAuditEntries, Storage) async throws -> Void
        ) async throws {
            try await withTemporaryFolder { folder in
                let store = try await Storage.open(
                    PeopleStore.declaration, at: StoragePlace(database: nil, folder: folder), logger: quietLogger)
                let fast = PasswordHash.Parameters(cost: 1 << 10, blockSize: 8, parallelism: 1)
                let account = AccountDocument(
                    name: "ann", role: .communicator, password: try PasswordHash(of: RunningPeople.password, parameters: fast),
                    openID: nil, created: .now)
                try await store.insert(account, into: PeopleStore.accounts)
                let audit = DeferredAuditEntries(store: store, logger: quietLogger)
                let hashing = PasswordHashing(threads: 1)
                try await body(
                    PasswordCheck(hashing: hashing, store: store, audit: audit, logger: quietLogger), audit, store)
                await hashing.close()
                try await store.close()
            }
        }

        @Test("An unknown name takes as long as a wrong password")
        func sameTime() async throws {
            // As in the product.
            try await RunningPeople.withAdmin(.sqlite, hashing: PasswordHashing()) { people in
                func fastest(_ name: String) async -> Duration {
                    var times: [Duration] = []
                    // Further attempts would have to wait.
                    for _ in 0..<4 {
                        let start = ContinuousClock.now
                        _ = await people.refusal(name, Secret("wrong"))
                        times.append(start.duration(to: .now))
                    }
                    return times.min() ?? .zero
                }
                let known = await fastest("admin")
                let unknown = await fastest("nobody")
                // The hash is nearly all of the time. Without it the answer would come in a millisecond.
                #expect(unknown > known / 20 && known > unknown / 20, "\(known) and \(unknown)")
            }
        }

        @Test("After wrong passwords further attempts have to wait, even for a name without an account")
        func limits() async throws {
            try await RunningPeople.withAdmin(.sqlite) { people in
                for name in ["admin", "nobody"] {
                    for _ in 0..<4 { #expect(await people.refusal(name, Secret("wrong"))?.status == .unauthenticated) }
                    let refusal = try await people.tooManyAttempts { await people.refusal(name, Secret("wrong")) }
                    #expect(refusal.message == "too many attempts; try again later")
                    let wait = try #require(refusal.retryAfter)
                    #expect(wait >= 1 && wait <= 60_000)
                }
                try await eventually { await people.refusal() == nil }
            }
        }

        @Test("A confirmed password counts for five minutes, and a wrong one does not")
        func confirmation() async throws {
            try await RunningPeople.withAdmin(.sqlite) { people in
                let signedIn = try await people.signIn()
                let wrong = ConfirmSignIn(hash: signedIn.hash, password: Secret("wrong"), address: "192.0.2.1")
                #expect(await people.client.failure(of: wrong)?.status == .unauthenticated)
                #expect(try await people.credential(signedIn.hash)?.confirmedUntil == nil)
                let before = UnixMilliseconds.now
                let confirmed = try await people.client.request(
                    ConfirmSignIn(hash: signedIn.hash, password: RunningPeople.password, address: "192.0.2.1"))
                let until = try #require(confirmed.confirmedUntil)
                #expect(until >= before + PeopleLimits.confirmationTime && until <= .now + PeopleLimits.confirmationTime)
                #expect(try await people.credential(signedIn.hash)?.confirmedUntil == until)
                let change = CredentialChange(of: signedIn.hash)
                #expect(try await people.changes(after: signedIn.credential.sequence).changes == [change])
                let unknown = ConfirmSignIn(
                    hash: RunningPeople.operatorHash, password: RunningPeople.password, address: "192.0.2.1")
                #expect(await people.client.failure(of: unknown)?.status == .notFound)
            }
        }

        @Test("Use extends a sign-in, to twelve hours after its beginning at most")
        func expiry() {
            let start: UnixMilliseconds = 1_000_000
            let hour = Milliseconds.seconds(3_600)
            var signIn = SignInDocument(hash: RunningPeople.operatorHash, account: "ann", address: "192.0.2.1", now: start)
            #expect(signIn.expires == start + hour * 2)
            signIn.used(at: start + hour, now: start + hour)
            #expect(signIn.expires == start + hour * 3)
            signIn.used(at: start, now: start + hour)
            #expect(signIn.expires == start + hour * 3)
            // A gateway's clock may be fast.
            signIn.used(at: start + hour * 5, now: start + hour * 2)
            #expect(signIn.expires == start + hour * 4)
            signIn.used(at: start + hour * 11, now: start + hour * 11)
            #expect(signIn.expires == start + hour * 12)
        }

        @Test("A sign-in that began while the clock was ahead is not valid")
        func clockAhead() async throws {
            try await withPasswordCheck { _, _, store in
                for (seconds, isValid) in [(0, true), (30, true), (3_600, false)] {
                    let hash = Secret("ahead by \(seconds)").credentialHash
                    let signIn = SignInDocument(
                        hash: hash, account: "ann", address: "192.0.2.1", now: UnixMilliseconds.now + .seconds(Int64(seconds)))
                    try await store.insert(signIn, into: PeopleStore.signIns)
                    let found = try? await store.snapshot { try $0.credential(hash) }
                    #expect((found != nil) == isValid, "\(seconds)")
                    let listed = try await store.snapshot { try ListCredentials(limit: 200).answer(from: $0) }.credentials
                    #expect(listed.contains(where: { $0.hash == hash }) == isValid, "\(seconds)")
                }
            }
        }

        @Test("An account has at most fifty sign-ins: a further one ends the oldest")
        func maxSignIns() async throws {
            try await withTemporaryFolder { folder in
                try await RunningPeople.with(in: folder) { try await $0.setUp() }
                let store = try await Storage.open(
                    PeopleStore.declaration, at: StoragePlace(database: nil, folder: folder), logger: quietLogger)
                // The first one is the newest.
                let hashes = (0..<PeopleLimits.maxSignIns).map { CredentialHash(digest: Array(repeating: UInt8($0), count: 32)) }
                for (minutes, hash) in hashes.enumerated() {
                    let signIn = SignInDocument(
                        hash: hash, account: "admin", address: "192.0.2.1",
                        now: UnixMilliseconds.now - .seconds(Int64(minutes) * 60))
                    try await store.insert(signIn, into: PeopleStore.signIns)
                }
                try await store.close()
                try await RunningPeople.with(in: folder) { people in
                    try await people.add("ann")
                    _ = try await people.signIn("ann")
                    let before = try await people.changes(after: 0).sequence
                    let signedIn = try await people.signIn()
                    #expect(try await people.credential(signedIn.hash) != nil)
                    for kept in [hashes[48], hashes[0]] { #expect(try await people.credential(kept) != nil) }
                    #expect(try await people.credential(hashes[49]) == nil)
                    let changes = [CredentialChange(of: hashes[49], ended: true), CredentialChange(of: signedIn.hash)]
                    #expect(try await people.changes(after: before).changes == changes)
                }
            }
        }

        @Test("A password with old parameters is stored with the current ones at the next sign-in")
        func rehash() async throws {
            try await withTemporaryFolder { folder in
                let store = try await Storage.open(
                    PeopleStore.declaration, at: StoragePlace(database: nil, folder: folder), logger: quietLogger)
                let old = PasswordHash.Parameters(cost: 1 << 10, blockSize: 8, parallelism: 1)
                let account = AccountDocument(
                    name: "ann", role: .superUser, password: try PasswordHash(of: RunningPeople.password, parameters: old),
                    openID: nil, created: .now)
                try await store.insert(account, into: PeopleStore.accounts)
                try await store.close()
                try await RunningPeople.with(in: folder) { people in
                    _ = try await people.signIn("ann")
                    _ = try await people.signIn("ann")
                }
                let reopened = try await Storage.open(
                    PeopleStore.declaration, at: StoragePlace(database: nil, folder: folder), logger: quietLogger)
                let stored = try await reopened.get("ann", from: PeopleStore.accounts)?.document.password
                try await reopened.close()
                #expect(stored?.parameters == RunningPeople.fastHash)
                #expect(try stored?.matches(RunningPeople.password) == true)
            }
        }

        @Test("While someone with any number of addresses tries passwords, people sign in, from known addresses and others")
        func manyAddresses() async throws {
            let slow = PasswordHash.Parameters(cost: 1 << 15, blockSize: 8, parallelism: 1)
            let hashing = PasswordHashing(parameters: slow, threads: 1, maxWaiting: 3)
            try await RunningPeople.withAdmin(.sqlite, hashing: hashing) { people in
                let client = people.client
                _ = try await people.signIn(address: "198.51.100.7")
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<20 {
                        group.addTask {
                            var attempt = 0
                            while !Task.isCancelled {
                                attempt += 1
                                let network = String(number * 1_000 + attempt, radix: 16)
                                let command = BeginSignIn(
                                    account: "nobody\(network)", password: Secret("wrong"), address: "2001:db8:0:\(network)::1")
                                let failure = await client.failure(of: command)
                                // They do not wait, as attackers would not.
                                if failure?.status == .overloaded { try await Task.sleep(for: .milliseconds(5)) }
                            }
                        }
                    }
                    for address in ["198.51.100.7", "198.51.100.7", "203.0.113.9", "2001:db8:1::1"] {
                        _ = try await people.signIn(address: address)
                    }
                    group.cancelAll()
                }
            }
        }

        @Test("Too many simultaneous sign-ins get overloaded, while the service still answers other requests")
        func overload() async throws {
            // The first sign-in is hashed for longer than the others need to arrive.
            let slow = PasswordHash.Parameters(cost: 1 << 16, blockSize: 8, parallelism: 1)
            let hashing = PasswordHashing(parameters: slow, threads: 1, maxWaiting: 3)
            try await RunningPeople.withAdmin(.sqlite, hashing: hashing) { people in
                let client = people.client
                let statuses = await withTaskGroup(of: ReplyStatus?.self) { group in
                    for number in 0..<12 {
                        group.addTask {
                            let command = BeginSignIn(
                                account: "nobody\(number)", password: Secret("wrong"), address: "192.0.2.\(number)")
                            return await client.failure(of: command)?.status
                        }
                    }
                    group.addTask { await client.failure(of: GetAccount("admin"))?.status }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                #expect(statuses.count { $0 == .overloaded } + statuses.count { $0 == .unauthenticated } == 12)
                #expect(statuses.contains(.overloaded))
                // The account's answer came before that of the last password.
                let answered = try #require(statuses.firstIndex(of: nil))
                let last = try #require(statuses.lastIndex(of: .unauthenticated))
                #expect(answered < last, "\(statuses)")
            }
        }
    }
}
