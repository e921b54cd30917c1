import Bus
import Schemas
import Synchronization
import TestSupport
import Testing
import Base

@testable import People

extension PeopleServiceTests {
    /// What the provider does, or does not do.
    @Suite("The OpenID Connect provider")
    struct OpenIDProviderTests {
        @Test("Without a provider, or while it does not answer, the error says so")
        func unavailable() async throws {
            try await RunningPeople.with(.sqlite) { people in
                let failure = await people.client.failure(of: BeginOpenIDSignIn(redirect: OpenIDHarness.redirect))
                #expect(failure?.status == .notFound)
            }
            let impatient = ProviderTimes(request: .milliseconds(300), failureLifetime: .milliseconds(100))
            try await OpenIDHarness.with(times: impatient) { harness in
                harness.provider.freeze()
                let command = BeginOpenIDSignIn(redirect: OpenIDHarness.redirect)
                let failure = await harness.people.client.failure(of: command)
                #expect(failure?.status == .unavailable && failure?.message.contains("does not answer") == true)
                harness.provider.thaw()
                // A failure is kept for a while.
                try await eventually { await harness.people.client.failure(of: command) == nil }
            }
        }

        @Test("A provider that is another issuer is a mistake of the settings, and the error and the log name both")
        func otherIssuer() async throws {
            try await OpenIDTestProvider.with { provider in
                let settings = ["MSI_OIDC_ISSUER": provider.issuer + "/", "MSI_OIDC_CLIENT_ID": "hub"]
                try await withTemporaryFolder { folder in
                    try await RunningPeople.with(in: folder, settings: settings) { people in
                        let failure = await people.client.failure(of: BeginOpenIDSignIn(redirect: OpenIDHarness.redirect))
                        let both = "its issuer is \(provider.issuer), and MSI_OIDC_ISSUER is \(provider.issuer)/"
                        #expect(failure?.status == .internal && failure?.message.contains(both) == true, "\(failure)")
                        #expect(people.log.has(both))
                    }
                }
            }
        }

        @Test("An answer that names another issuer is refused (RFC 9207)")
        func issuerOfTheAnswer() async throws {
            try await OpenIDHarness.with { harness in
                try await harness.add("17", "ann", roles: ["staff"])
                for (issuer, isRefused) in [("https://evil.example", true), (harness.provider.issuer, false)] {
                    let begun = try await harness.begin()
                    let address = try await harness.provider.signIn("17", at: begun.url)
                    let command = FinishOpenIDSignIn(
                        flow: begun.flow, state: harness.parameter("state", of: address),
                        code: harness.parameter("code", of: address), issuer: issuer, address: "192.0.2.1")
                    let failure = await harness.people.client.failure(of: command)
                    #expect((failure?.status == .unauthenticated) == isRefused && (failure == nil) != isRefused, "\(issuer)")
                    if isRefused { #expect(failure?.message.contains("of the issuer \(issuer), not of") == true) }
                }
            }
        }

        @Test("While the provider hangs, some commands wait for it, further ones are refused at once, and other commands work")
        func hangingProvider() async throws {
            try await OpenIDHarness.with { harness in
                let client = harness.people.client
                try await harness.add("17", "ann", roles: ["staff"])
                var commands: [FinishOpenIDSignIn] = []
                for _ in 0..<40 {
                    let begun = try await harness.begin()
                    commands.append(harness.finish(begun.flow, begun.url, code: Secret("any")))
                }
                harness.provider.freeze()
                try await withThrowingTaskGroup(of: ReplyStatus?.self) { group in
                    for command in commands { group.addTask { await client.failure(of: command)?.status } }
                    for _ in 0..<8 { #expect(try await group.next() == .overloaded) }
                    _ = try await client.request(GetAccount("admin"))
                    harness.provider.thaw()
                    // Who has waited for more than five seconds is refused as well.
                    for try await status in group { #expect(status == .unauthenticated || status == .overloaded) }
                }
            }
        }

        @Test("An answer whose body never ends fails in time")
        func hangingBody() async throws {
            try await OpenIDTestProvider.with { provider in
                let client = ProviderClient(timeout: .milliseconds(300))
                let failure = await #expect(throws: CommandFailure.self) {
                    try await client.answer(at: provider.issuer + "/test/endless-body")
                }
                #expect(failure?.status == .unavailable)
                try await client.close()
            }
        }

        @Test("Many who begin while the provider does not answer share one request, and its failure")
        func sharedDiscovery() async throws {
            let count = Mutex(0)
            let reading = SharedReading<Int>(failureLifetime: .seconds(600)) {
                count.withLock { $0 += 1 }
                try await Task.sleep(for: .milliseconds(50))
                throw CommandFailure(.unavailable, "it does not answer")
            }
            await withTaskGroup { group in
                for _ in 0..<100 {
                    group.addTask { await #expect(throws: CommandFailure.self) { try await reading.value(maxAge: .seconds(1)) } }
                }
            }
            await #expect(throws: CommandFailure.self) { try await reading.value(maxAge: .seconds(1)) }
            #expect(count.withLock(\.self) == 1)
        }

        @Test("A new key of the provider is read when a token has it")
        func newKey() async throws {
            var times = RunningPeople.patientTimes
            times.minKeyAge = .milliseconds(100)
            try await OpenIDHarness.with(times: times) { harness in
                try await harness.add("17", "ann", roles: ["staff"])
                _ = try await harness.signIn("17")
                let before = try await harness.provider.requests(to: "/jwks")
                try await harness.provider.makeNewKey()
                try await eventually("a sign-in with the new key") { try await harness.refusal("17") == nil }
                #expect(try await harness.provider.requests(to: "/jwks") > before)
                #expect(try await harness.provider.requests(to: "/.well-known/openid-configuration") == 1)
            }
        }

        @Test("Unknown keys do not cause more than one request in a time")
        func unknownKeys() async throws {
            var times = RunningPeople.patientTimes
            times.minKeyAge = .seconds(3_600)
            try await OpenIDHarness.with(times: times) { harness in
                try await harness.add("17", "ann", roles: ["staff"])
                _ = try await harness.signIn("17")
                try await harness.provider.makeNewKey()
                for _ in 0..<3 { #expect(try await harness.refusal("17") != nil) }
                #expect(try await harness.provider.requests(to: "/jwks") == 1)
            }
        }

        @Test("The tokens of an account that signs in only at the provider end thirty days after its last sign-in there")
        func tokenAge() throws {
            let day = Milliseconds.seconds(86_400)
            let created: UnixMilliseconds = 1_000_000
            let person = OpenIDSubject(issuer: "https://login.example.edu", subject: "17")
            var account = AccountDocument(
                name: "ann", role: .communicator, password: nil, openID: person, created: created)
            let hash = RunningPeople.operatorHash
            let token = TokenDocument(hash: hash, name: "t", account: "ann", rights: [.send], now: created)
            let short = TokenDocument(
                hash: hash, name: "t", account: "ann", rights: [.send], expires: created + day, now: created)
            #expect(account.end(of: token) == created + day * 30 && account.end(of: short) == created + day)
            account.openIDSignedIn = created + day
            #expect(account.end(of: token) == created + day * 31)
            account.openID = nil
            #expect(account.end(of: token) == nil && account.end(of: short) == created + day)
        }
    }
}
