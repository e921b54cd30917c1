import AsyncHTTPClient
import Base
import Bus
import FoundationEssentials
import Schemas
import ServiceKit
import TestSupport
import Testing

@testable import People

extension SystemTests {
    /// The people service with Google's, Firebase's and Facebook's tokens, by the identity emulator.
    @Suite("Tokens of identity providers", .timeLimit(.minutes(10)))
    struct IdentityTests {
        private static let person = "100000000000000000001"

        /// What a test uses.
        private struct Services {
            let emulator: IdentityServer
            let people: CommandClient

            func credential(
                _ provider: IdentityProvider, _ changes: [JSONValue.Member] = [], of person: String = person
            ) async throws -> PersonCredential {
                let token = try await emulator.token(provider, of: person, changes)
                return provider == .facebook
                    ? PersonCredential(provider: provider, accessToken: token)
                    : PersonCredential(provider: provider, idToken: token)
            }

            func begin(_ credential: PersonCredential, on device: TestDevice = TestDevice()) async throws -> BeginDevice {
                let nonce = try await people.request(ChallengeDevice()).nonce
                return BeginDevice(
                    credential: credential, device: device.document, nonce: nonce,
                    proof: try device.proof(of: credential, nonce: nonce), address: "192.0.2.1")
            }

            /// Why nobody can sign in with a credential.
            func refusal(
                of credential: PersonCredential, on device: TestDevice = TestDevice()
            ) async throws -> CommandFailure? {
                await people.failure(of: try await begin(credential, on: device))
            }
        }

        /// Runs a test with both services as processes, with the most verbose log. Afterwards no file outside of the emulator's may have one of
        /// the tokens.
        private func withPeople(_ body: (Services) async throws -> [Secret]) async throws {
            try await withTemporaryFolder { folder in
                let names = ["msi-identity-emulator", "msi-people"]
                let tokens = try await withServices(
                    names, in: folder,
                    settings: { name, running in
                        guard name == "msi-people", let emulator = running.first else {
                            return ["MSI_IDENTITY_EMULATOR_PORT": "0"]
                        }
                        let settings = IdentityEmulatorAccess(port: try emulator.port).settings
                        // With a native app, to which Google gives tokens whose audience is the web app.
                        let clients = "\(IdentityEmulatorAccess.clientID),\(TestClaims.androidClient)"
                        return settings.merging(["MSI_LOG_LEVEL": "trace", "MSI_GOOGLE_CLIENT_IDS": clients]) { $1 }
                    },
                    { processes in
                        try await withBus { bus in
                            try await withHTTPClient { http in
                                let url = IdentityEmulatorAccess(port: try processes[0].port).url
                                let people = try CommandClient(
                                    bus: bus, endpoints: ["ipc://\(folder)/run/people.sock"], logger: quietLogger)
                                return try await body(
                                    Services(emulator: IdentityServer(url: url, http: http), people: people))
                            }
                        }
                    })
                #expect(!tokens.isEmpty)
                try expectNone(of: tokens, in: folder)
            }
        }

        private func expectNone(of tokens: [Secret], in folder: String) throws {
            for path in try FileManager.default.subpathsOfDirectory(atPath: folder) {
                guard !path.hasPrefix("identity-emulator/"), let data = FileManager.default.contents(atPath: "\(folder)/\(path)")
                else { continue }
                for token in tokens {
                    // Its signature; of an access token all of it.
                    let part = token.text.split(separator: ".").last.map(String.init) ?? token.text
                    #expect(data.firstRange(of: Data(part.utf8)) == nil, "\(path)")
                }
            }
        }

        private typealias Attack = (provider: IdentityProvider, changes: [JSONValue.Member], reason: IDTokenRefusal)

        private static func claims(_ claims: JSONValue) -> [JSONValue.Member] { [JSONValue.Member("claims", claims)] }

        private static var attacks: [Attack] {
            let now = UnixMilliseconds.now.seconds
            let common: [(changes: [JSONValue.Member], reason: IDTokenRefusal)] = [
                (claims(["aud": "another"]), .audience), (claims(["iss": "https://evil.example"]), .issuer),
                (claims(["exp": .integer(now - 120), "iat": .integer(now - 300)]), .expired),
                (claims(["iat": .integer(now + 300)]), .issued), (claims(["nbf": .integer(now + 300)]), .early),
                (claims(["email_verified": false]), .email), ([JSONValue.Member("alg", "none")], .form),
                ([JSONValue.Member("alg", "HS256")], .algorithm), ([JSONValue.Member("alg", "PS256")], .algorithm),
                ([JSONValue.Member("header", ["jku": "https://evil.example/keys"])], .header),
                ([JSONValue.Member("header", ["crit": ["exp"]])], .header), ([JSONValue.Member("key", "unknown")], .key),
            ]
            let facebook: [(claims: JSONValue, reason: IDTokenRefusal)] = [
                (["app_id": "999"], .audience), (["type": "PAGE"], .kind), (["is_valid": false], .invalid),
                (["expires_at": .integer(now - 60)], .invalid),
            ]
            var attacks: [Attack] = []
            for provider in [IdentityProvider.google, .firebase] {
                for attack in common { attacks.append((provider, attack.changes, attack.reason)) }
            }
            for attack in facebook { attacks.append((.facebook, claims(attack.claims), attack.reason)) }
            return attacks
        }

        @Test("Each attack is refused with its reason, what must pass passes, and no token is in a file")
        func attacks() async throws {
            try await withPeople { services in
                var tokens: [Secret] = []
                func keep(_ credential: PersonCredential) -> PersonCredential {
                    tokens += [credential.idToken, credential.accessToken].compactMap { $0 }
                    return credential
                }
                // Withdrawn before the service has read the keys.
                for provider in [IdentityProvider.google, .firebase] {
                    _ = try await services.credential(provider)
                    try await services.emulator.rotateKeys(of: provider)
                    let withdrawn = keep(try await services.credential(provider, [JSONValue.Member("key", "withdrawn")]))
                    #expect(try await services.refusal(of: withdrawn)?.message == "id_token: \(IDTokenRefusal.key.reason)")
                }
                for (provider, changes, reason) in Self.attacks {
                    let credential = keep(try await services.credential(provider, changes))
                    let field = provider == .facebook ? "access_token" : "id_token"
                    let failure = try await services.refusal(of: credential)
                    #expect(
                        failure?.status == .unauthenticated && failure?.field == field
                            && failure?.message == "\(field): \(reason.reason)",
                        "\(provider) \(changes): \(String(describing: failure))")
                }
                let now = UnixMilliseconds.now.seconds
                for (provider, changes) in [
                    (.google, [:]), (.google, ["azp": .string(TestClaims.androidClient)]), (.facebook, [:]),
                    (.firebase, ["iat": .integer(now - 3_000), "exp": .integer(now + 600), "auth_time": .integer(now - 3_000)]),
                ] as [(IdentityProvider, JSONValue)] {
                    let credential = keep(try await services.credential(provider, Self.claims(changes)))
                    let failure = try await services.refusal(of: credential)
                    #expect(failure?.status == .notFound, "\(provider) \(changes): \(String(describing: failure))")
                }
                return tokens
            }
        }

        @Test("A person of each provider registers and signs in on a device, and nobody else can use the token")
        func registration() async throws {
            try await withPeople { services in
                var tokens: [Secret] = []
                for provider in [IdentityProvider.google, .firebase, .facebook] {
                    let credential = try await services.credential(provider)
                    let signedIn = try await expectRegistration(with: credential, services)
                    tokens += [credential.idToken ?? credential.accessToken, signedIn.token].compactMap { $0 }
                }
                return tokens
            }
        }

        private func expectRegistration(
            with credential: PersonCredential, _ services: Services
        ) async throws -> DeviceSignedIn {
            let device = TestDevice()
            let provider = credential.provider
            #expect(try await services.refusal(of: credential, on: device)?.status == .notFound)
            let nonce = try await services.people.request(ChallengeDevice()).nonce
            let name = try #require(AccountName("dana-" + provider.rawValue))
            let person = try await services.people.request(
                AddPerson(
                    account: name, credential: credential, device: device.document, nonce: nonce,
                    proof: try device.proof(of: credential, nonce: nonce), address: "192.0.2.1"))
            #expect(person.identities.map(\.provider) == [provider])
            #expect((person.identities.first?.email == nil) == (provider == .facebook))
            let signedIn = try await services.people.request(try await services.begin(credential, on: device))
            #expect(signedIn.person == person)
            let stolen = try await services.refusal(of: credential)
            #expect(stolen?.status == .unauthenticated && stolen?.message.contains("another device") == true)
            return signedIn
        }

        @Test("While a provider cannot be asked, the answer says so, and does not blame the person")
        func away() async throws {
            try await withPeople { services in
                let providers: [IdentityProvider] = [.google, .firebase, .facebook]
                try await concurrently(providers.count) { number in
                    let provider = providers[number]
                    let credential = try await services.credential(provider)
                    for fault in [["status": 503], ["drop": true]] as [JSONValue] {
                        try await services.emulator.setFault(fault, of: provider)
                        #expect(try await services.refusal(of: credential)?.status == .unavailable, "\(provider) \(fault)")
                    }
                    try await services.emulator.setFault([:], of: provider)
                    // A failure is kept for a few seconds.
                    try await eventually { try await services.refusal(of: credential)?.status == .notFound }
                }
                let credential = try await services.credential(.facebook)
                let limited: JSONValue = ["status": 400, "body": ["error": ["code": 4, "message": "limit"]]]
                try await services.emulator.setFault(limited, of: .facebook)
                let failure = try await services.refusal(of: credential)
                #expect(failure?.status == .unavailable && failure?.retryAfter == .seconds(60))
                return [credential.accessToken].compactMap { $0 }
            }
        }
    }
}
