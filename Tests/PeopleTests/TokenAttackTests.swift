import Base
import Bus
import Schemas
import TestSupport
import Testing

@testable import People

extension PeopleServiceTests {
    /// The attacks on ID tokens of RFC 8725 and of the providers' documents, each over the bus.
    @Suite("Attacks on ID tokens", .timeLimit(.minutes(10)))
    struct TokenAttackTests {
        private static let now: UnixMilliseconds = 1_796_000_000_000
        private static let providers: [IdentityProvider] = [.google, .firebase, .university]

        private static func claims(_ provider: IdentityProvider) -> JSONValue {
            switch provider {
            case .google: TestClaims.google("17", at: now)
            case .firebase: TestClaims.firebase("17", at: now)
            case .university, .facebook, .password: TestClaims.university("17", at: now)
            }
        }

        /// Runs a test with a service that takes the tokens of a key.
        private func withService(
            settings: [String: String] = [:], _ body: (RunningPeople, TestIdentities) async throws -> Void
        ) async throws {
            let identities = try TestIdentities()
            let keys = try TestKeys(identities.jwk)
            let settings = TestClaims.settings.merging(settings) { $1 }
            try await RunningPeople.with(
                .sqlite, settings: settings, keys: [.google: keys, .firebase: keys, .university: keys],
                clock: TestClock(Self.now)
            ) { try await body($0, identities) }
        }

        /// Sends a token, which must be refused for a reason, and be in no line of the log.
        private func expectRefusal(
            of token: String, _ provider: IdentityProvider, _ reason: IDTokenRefusal, _ what: String, by people: RunningPeople
        ) async throws {
            let credential = PersonCredential(provider: provider, idToken: Secret(token))
            let failure = try await people.refusal(of: credential)
            #expect(
                failure?.status == .unauthenticated && failure?.field == "id_token"
                    && failure?.message == "id_token: \(reason.reason)",
                "\(provider): \(what): \(String(describing: failure))")
            #expect(people.log.has(reason.rawValue), "\(provider): \(what)")
            for part in token.split(separator: ".") where part.utf8.count > 20 {
                #expect(!people.log.has(String(part)), "\(provider): \(what)")
            }
        }

        @Test("A token with other claims is refused, with the reason", arguments: providers)
        func claims(provider: IdentityProvider) async throws {
            try await withService { people, identities in
                for (what, changes, reason) in Self.commonClaims + Self.ownClaims(provider) {
                    let token = try identities.token(.changed(Self.claims(provider), changes))
                    try await expectRefusal(of: token, provider, reason, what, by: people)
                }
            }
        }

        private typealias ClaimAttack = (what: String, changes: JSONValue, reason: IDTokenRefusal)

        private static var commonClaims: [ClaimAttack] {
            let now = now.seconds
            return [
                ("expired", ["exp": .integer(now - 60)], .expired), ("no end", ["exp": .null], .expired),
                ("an end as text", ["exp": .string("\(now + 300)")], .expired),
                ("half a second", ["exp": .number("\(now + 300).5")], .expired), ("a negative end", ["exp": -1], .expired),
                ("an endless end", ["exp": .number("1e308")], .expired),
                ("milliseconds", ["exp": .integer((now + 300) * 1_000)], .lifetime),
                ("more than a day", ["exp": .integer(now + 86_401)], .lifetime),
                ("of the future", ["iat": .integer(now + 61)], .issued), ("of no time", ["iat": .null], .issued),
                ("a time as text", ["iat": .string("\(now)")], .issued),
                ("not yet", ["nbf": .integer(now + 61)], .early), ("not yet, as text", ["nbf": "0"], .early),
                ("no audience", ["aud": .null], .audience), ("another audience", ["aud": "other"], .audience),
                ("an empty list", ["aud": []], .audience), ("a number", ["aud": 7], .audience),
                ("an object", ["aud": ["0": "hub"]], .audience),
                ("a list in a list", ["aud": [[.string(TestClaims.universityApp)]]], .audience),
                ("with an unknown one", ["aud": [.string(TestClaims.universityApp), "other"]], .audience),
                ("a longer audience", ["aud": .string(TestClaims.googleClient + "x")], .audience),
                ("no person", ["sub": .null], .subject), ("an empty person", ["sub": ""], .subject),
                ("a long person", ["sub": .string(String(repeating: "1", count: 256))], .subject),
                ("a number as person", ["sub": 17], .subject), ("no issuer", ["iss": .null], .issuer),
                ("another issuer", ["iss": "https://accounts.google.com@evil.example"], .issuer),
                ("a sign-out", ["events": ["http://schemas.openid.net/event/backchannel-logout": [:]]], .kind),
            ]
        }

        private static func ownClaims(_ provider: IdentityProvider) -> [ClaimAttack] {
            let now = now.seconds
            let old: ClaimAttack = ("issued long ago", ["iat": .integer(now - 601)], .issued)
            let otherDevice: ClaimAttack = ("of another device", ["nonce": .string(TestDevice().thumbprint)], .nonce)
            let otherParty: ClaimAttack = ("for another client", ["azp": "other"], .party)
            switch provider {
            case .google:
                return [
                    old, otherDevice, otherParty, ("a list", ["aud": [.string(TestClaims.googleClient)]], .audience),
                    ("another case", ["aud": "WEB.apps.example"], .audience),
                    ("a slash", ["iss": "https://accounts.google.com/"], .issuer),
                    ("http", ["iss": "http://accounts.google.com"], .issuer),
                    ("another case", ["iss": "https://Accounts.google.com"], .issuer),
                    ("not verified", ["email_verified": false], .email), ("verified as text", ["email_verified": "true"], .email),
                ]
            case .firebase:
                return [
                    ("a list", ["aud": [.string(TestClaims.firebaseProject)]], .audience),
                    ("another project", ["iss": "https://securetoken.google.com/other"], .issuer),
                    ("a session's cookie", ["iss": "https://session.firebase.google.com/campus"], .issuer),
                    (
                        "a custom token",
                        [
                            "aud": "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit"
                        ], .audience
                    ),
                    ("another user", ["user_id": "18"], .subject), ("no user", ["user_id": .null], .subject),
                    (
                        "a long user",
                        [
                            "sub": .string(String(repeating: "1", count: 129)),
                            "user_id": .string(String(repeating: "1", count: 129)),
                        ], .subject
                    ),
                    ("signed in later", ["auth_time": .integer(now + 61)], .early), ("never", ["auth_time": .null], .early),
                    ("of a tenant", ["firebase": ["sign_in_provider": "password", "tenant": "t"]], .tenant),
                    ("nobody", ["firebase": ["sign_in_provider": "anonymous"]], .anonymous),
                    ("of no provider", ["firebase": .null], .anonymous), ("not verified", ["email_verified": false], .email),
                    ("not said to be verified", ["email_verified": .null], .email),
                ]
            case .university, .facebook, .password:
                return [
                    old, otherDevice, otherParty,
                    (
                        "several without a party",
                        [
                            "aud": [.string(TestClaims.universityApp), .string(TestClaims.universityClient)]
                        ], .party
                    ),
                    ("a slash", ["iss": .string(TestClaims.universityIssuer + "/")], .issuer),
                ]
            }
        }

        @Test("A token with another header or signature is refused, with the reason", arguments: providers)
        func headers(provider: IdentityProvider) async throws {
            try await withService { people, identities in
                let claims = Self.claims(provider)
                for (what, header, reason) in Self.headers {
                    try await expectRefusal(
                        of: try identities.token(claims, header: header), provider, reason, what, by: people)
                }
                for name in ["none", "None", "nOnE"] {
                    let unsigned = try identities.token(claims, header: ["alg": .string(name)], signing: .nothing)
                    try await expectRefusal(of: unsigned, provider, .form, name, by: people)
                    try await expectRefusal(of: unsigned + "AAAA", provider, .algorithm, name, by: people)
                }
                let shared = try identities.token(claims, header: ["alg": "HS256"], signing: .publicKey)
                try await expectRefusal(of: shared, provider, .algorithm, "HS256", by: people)
                let padded = try identities.token(claims, header: ["alg": "PS256"], signing: .pss)
                try await expectRefusal(of: padded, provider, .algorithm, "PS256", by: people)
                let renamed = try identities.token(claims, signing: .pss)
                try await expectRefusal(of: renamed, provider, .signature, "PS256 as RS256", by: people)
                let other = try TestIdentities().token(claims)
                try await expectRefusal(of: other, provider, .signature, "another key", by: people)
            }
        }

        private static let headers: [(what: String, header: JSONValue, reason: IDTokenRefusal)] = [
            ("no algorithm", ["alg": .null], .algorithm), ("an empty algorithm", ["alg": ""], .algorithm),
            ("ES256", ["alg": "ES256"], .algorithm), ("another case", ["alg": "rs256"], .algorithm),
            ("no key", ["kid": .null], .key), ("an unknown key", ["kid": "2"], .key), ("a path", ["kid": "../../1"], .key),
            ("a property", ["kid": "__proto__"], .key), ("a query", ["kid": "' OR 1=1 --"], .key), ("a number", ["kid": 1], .key),
            ("a list", ["kid": ["1"]], .key), ("a long key", ["kid": .string(String(repeating: "1", count: 4_000))], .key),
            ("a place of keys", ["jku": "https://evil.example/keys"], .header),
            ("a certificate's place", ["x5u": "https://evil.example/x"], .header), ("a certificate", ["x5c": ["AAAA"]], .header),
            ("its own key", ["jwk": ["kty": "RSA", "n": "AAAA", "e": "AQAB"]], .header),
            ("an unknown extension", ["crit": ["exp"], "exp": 1], .header), ("no extension", ["crit": []], .header),
            ("no Base64", ["b64": false], .header), ("compressed", ["zip": "DEF"], .header),
            ("an access token", ["typ": "at+jwt"], .kind), ("a proof", ["typ": "dpop+jwt"], .kind),
            ("a sign-out", ["typ": "logout+jwt"], .kind), ("a type that is none", ["typ": 1], .kind),
        ]

        @Test("What is no token in its only form is refused", arguments: providers)
        func forms(provider: IdentityProvider) async throws {
            try await withService { people, identities in
                let claims = Self.claims(provider)
                let right = try identities.token(claims)
                let parts = right.split(separator: ".").map(String.init)
                let header = #"{"alg":"RS256","kid":"1"}"#
                let doubled = String(claims.text.dropLast()) + #","sub":"18"}"#
                for (what, token) in [
                    ("nonsense", "nonsense"), ("two parts", "\(parts[0]).\(parts[1])"), ("five parts", "\(right).AAAA.AAAA"),
                    ("an empty part", "\(parts[0])..\(parts[2])"), ("padding", "\(parts[0]).\(parts[1]).\(parts[2])=="),
                    ("a space", "\(parts[0]). \(parts[1]).\(parts[2])"), ("spare bits", Self.withSpareBits(right)),
                    ("a name twice", try identities.token(header: header, claims: doubled)),
                    (
                        "a name twice in the header",
                        try identities.token(
                            header: #"{"alg":"RS256","kid":"1","alg":"RS256"}"#, claims: claims.text)
                    ),
                    ("more behind it", try identities.token(header: header, claims: claims.text + " {}")),
                    ("a list", try identities.token(header: header, claims: "[\(claims.text)]")),
                    ("no JSON", try identities.token(header: header, claims: "sub=17")),
                    ("too deep", try identities.token(header: header, claims: Self.deep)),
                ] {
                    try await expectRefusal(of: token, provider, .form, what, by: people)
                }
                let others = try identities.token(.changed(claims, ["sub": "18"])).split(separator: ".")[1]
                let changed = "\(parts[0]).\(others).\(parts[2])"
                try await expectRefusal(of: changed, provider, .signature, "changed", by: people)
                try await expectRefusal(of: String(right.dropLast(2)), provider, .signature, "cut", by: people)
                // Nobody has registered with it.
                let credential = PersonCredential(provider: provider, idToken: Secret(right))
                #expect(try await people.refusal(of: credential)?.status == .notFound)
            }
        }

        private static let deep =
            #"{"sub":"# + String(repeating: "[", count: 1_000) + String(repeating: "]", count: 1_000) + "}"

        /// The same bytes, with another last digit: the signature has 256 bytes, so four bits of its last digit are spare.
        private static func withSpareBits(_ token: String) -> String {
            let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
            guard let last = token.last, let value = digits.firstIndex(of: last) else { return token }
            return token.dropLast() + String(digits[value ^ 1])
        }

        @Test("A token of one provider is refused at another one", arguments: providers)
        func otherProvider(provider: IdentityProvider) async throws {
            try await withService { people, identities in
                for other in Self.providers where other != provider {
                    let token = try identities.token(Self.claims(other))
                    try await expectRefusal(of: token, provider, .issuer, "of \(other)", by: people)
                }
            }
        }

        @Test("A token of a key that its provider has withdrawn is refused")
        func withdrawnKey() async throws {
            let (old, new) = (try TestIdentities(keyID: "old"), try TestIdentities(keyID: "new"))
            let keys = try TestKeys(old.jwk)
            try await RunningPeople.with(
                .sqlite, settings: TestClaims.settings, keys: [.google: keys], clock: TestClock(Self.now)
            ) { people in
                let claims = Self.claims(.google)
                let credential = PersonCredential(provider: .google, idToken: Secret(try old.token(claims)))
                #expect(try await people.refusal(of: credential)?.status == .notFound)
                try keys.publish(new.jwk)
                try await expectRefusal(of: try old.token(claims), .google, .key, "withdrawn", by: people)
            }
        }

        @Test("What looks wrong and is right is accepted")
        func accepted() async throws {
            try await withService { people, identities in
                let now = Self.now.seconds
                let device = TestDevice()
                for (provider, changes) in [
                    (.google, ["azp": .string(TestClaims.androidClient)]), (.google, ["iss": "accounts.google.com"]),
                    (.google, ["nonce": .string(device.thumbprint)]), (.google, ["iat": .integer(now - 599)]),
                    (.google, ["email": .null, "email_verified": .null]), (.google, ["exp": .integer(now - 59)]),
                    (.firebase, ["iat": .integer(now - 3_000), "exp": .integer(now + 600), "auth_time": .integer(now - 90_000)]),
                    (.firebase, ["email": .null, "email_verified": .null]), (.firebase, ["iat": .number("\(now).0")]),
                    (.university, ["aud": .string(TestClaims.universityClient)]),
                    (
                        .university,
                        [
                            "aud": [.string(TestClaims.universityApp), .string(TestClaims.universityClient)],
                            "azp": .string(TestClaims.universityApp),
                        ]
                    ),
                    (.university, ["nonce": .string(device.thumbprint), "nbf": .integer(now + 59)]),
                ] as [(IdentityProvider, JSONValue)] {
                    let token = try identities.token(.changed(Self.claims(provider), changes))
                    let credential = PersonCredential(provider: provider, idToken: Secret(token))
                    let failure = try await people.refusal(of: credential, on: device)
                    #expect(failure?.status == .notFound, "\(provider) \(changes): \(String(describing: failure))")
                }
            }
        }

        @Test("With domains, only accounts of these organisations are taken, whatever the e-mail address is")
        func domains() async throws {
            try await withService(settings: ["MSI_GOOGLE_DOMAINS": "example.edu"]) { people, identities in
                for (what, hd) in [
                    ("a private account", .null), ("another one", "example.com"), ("a list", ["example.edu"]),
                ] as [(String, JSONValue)] {
                    let token = try identities.token(.changed(Self.claims(.google), ["hd": hd]))
                    try await expectRefusal(of: token, .google, .domain, what, by: people)
                }
                let token = try identities.token(.changed(Self.claims(.google), ["hd": "example.edu"]))
                let credential = PersonCredential(provider: .google, idToken: Secret(token))
                #expect(try await people.refusal(of: credential)?.status == .notFound)
            }
        }

        @Test("A provider that is not set up, and a token that is too long, are invalid")
        func invalid() async throws {
            try await RunningPeople.with(.sqlite) { people in
                for provider in [IdentityProvider.google, .firebase, .university] {
                    let credential = PersonCredential(provider: provider, idToken: Secret("a.b.c"))
                    let failure = try await people.refusal(of: credential)
                    #expect(failure?.status == .invalid && failure?.field == "credential.provider", "\(provider)")
                }
                let facebook = PersonCredential(provider: .facebook, accessToken: Secret("EAAB"))
                #expect(try await people.refusal(of: facebook)?.field == "credential.provider")
                let long = PersonCredential(provider: .google, idToken: Secret(String(repeating: "a", count: 8_193)))
                #expect(try await people.refusal(of: long)?.field == "credential.id_token")
            }
        }
    }
}
