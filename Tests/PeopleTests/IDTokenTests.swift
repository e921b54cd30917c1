import FoundationEssentials
import Base
import JWTKit
import Schemas
import TestSupport
import Testing

@testable import People

@Suite("ID tokens")
struct IDTokenTests {
    private static let now: UnixMilliseconds = 1_795_000_000_000
    private static let seconds = now.seconds
    private static let claims: JSONValue = [
        "iss": "https://id.example.edu", "sub": "17", "aud": "msi", "exp": .integer(seconds + 300), "iat": .integer(seconds),
        "nonce": "n", "auth_time": .integer(seconds),
    ]

    /// The claims, as JWTKit signs them.
    private struct Payload: JWTPayload {
        let claims: JSONValue

        init(_ claims: JSONValue) {
            self.claims = claims
        }

        init(from decoder: any Decoder) throws { claims = try JSONValue(from: decoder) }
        func encode(to encoder: any Encoder) throws { try claims.encode(to: encoder) }
        func verify(using algorithm: some JWTAlgorithm) {}
    }

    /// The only key of a provider.
    private struct OneKey: KeySource {
        let key: JWK

        func key(_ identifier: String?) async throws -> JWK { key }
    }

    /// The refusal of a token; `nil` if it is accepted.
    private func refusal(
        _ claims: JSONValue, confirmedAfter: UnixMilliseconds? = nil, header: JWTHeader = [:]
    ) async throws -> IDTokenRefusal? {
        let key = ES256PrivateKey()
        let token = try await JWTKeyCollection().add(ecdsa: key).sign(Payload(claims), header: header)
        return try await refusal(of: token, key: key, confirmedAfter: confirmedAfter)
    }

    /// By the rules for what a provider has answered to the code of a flow.
    private func refusal(
        of token: String, key: ES256PrivateKey, confirmedAfter: UnixMilliseconds? = nil
    ) async throws -> IDTokenRefusal? {
        let parameters = try #require(key.publicKey.parameters)
        let jwk = JWK.ecdsa(.es256, identifier: nil, x: parameters.x, y: parameters.y, curve: .p256)
        let rules = IDTokenRules(
            algorithms: IDToken.algorithms, issuers: [ExactText("https://id.example.edu")],
            audience: .containing(ExactText("msi")), nonce: .exactly("n"), maxAge: PersonLimits.maxTokenAge,
            confirmedAfter: confirmedAfter)
        do {
            #expect(try await IDToken(token, by: OneKey(key: jwk), rules, now: Self.now).subject == "17")
            return nil
        } catch let refusal as IDTokenRefusal {
            return refusal
        }
    }

    private func changed(_ name: String, _ value: JSONValue?) -> JSONValue {
        var claims = Self.claims
        claims[name] = value
        return claims
    }

    @Test("A token for this client, of now, with the nonce, is accepted")
    func accepted() async throws {
        #expect(try await refusal(Self.claims) == nil)
        #expect(try await refusal(changed("aud", ["msi"])) == nil)
        #expect(try await refusal(changed("nbf", .integer(Self.seconds + 30))) == nil)
        #expect(try await refusal(changed("exp", .integer(Self.seconds - 30))) == nil)
        #expect(try await refusal(Self.claims, confirmedAfter: Self.now) == nil)
        var several = changed("aud", ["msi", "other"])
        several["azp"] = "msi"
        #expect(try await refusal(several) == nil)
    }

    @Test(
        "A token with another claim is refused",
        arguments: [
            ("iss", "https://id.example.com", .issuer), ("iss", nil, .issuer), ("aud", "other", .audience),
            ("aud", nil, .audience), ("aud", ["msi", "other"], .party), ("azp", "other", .party),
            ("nonce", "m", .nonce), ("nonce", nil, .nonce), ("sub", nil, .subject), ("sub", "", .subject),
            ("exp", .integer(seconds - 61), .expired), ("exp", nil, .expired), ("exp", "soon", .expired),
            ("exp", .integer(seconds + 86_401), .lifetime), ("iat", .integer(seconds + 61), .issued),
            ("iat", .integer(seconds - 601), .issued), ("iat", nil, .issued), ("nbf", .integer(seconds + 61), .early),
        ] as [(String, JSONValue?, IDTokenRefusal)])
    func refused(name: String, value: JSONValue?, reason: IDTokenRefusal) async throws {
        #expect(try await refusal(changed(name, value)) == reason)
    }

    @Test("Texts are compared by their bytes: one that only looks the same is another one")
    func lookAlikes() throws {
        let kelvin = "https://\u{212A}.example"
        #expect(kelvin == "https://K.example" && ExactText(kelvin) != ExactText("https://K.example"))
    }

    @Test("A token without a recent password is not confirmed")
    func confirmation() async throws {
        let old = changed("auth_time", .integer(Self.seconds - 3_600))
        #expect(try await refusal(old) == nil)
        #expect(try await refusal(old, confirmedAfter: Self.now) == .confirmation)
        #expect(try await refusal(changed("auth_time", nil), confirmedAfter: Self.now) == .confirmation)
    }

    @Test("A token of another key, without a signature, or with a shared secret is refused")
    func signatures() async throws {
        let key = ES256PrivateKey()
        let other = try await JWTKeyCollection().add(ecdsa: ES256PrivateKey()).sign(Payload(Self.claims))
        #expect(try await refusal(of: other, key: key) == .signature)
        let parts = other.split(separator: ".")
        let header = Data(#"{"alg":"none"}"#.utf8).base64URL
        #expect(try await refusal(of: "\(header).\(parts[1]).AAAA", key: key) == .algorithm)
        let shared = try await JWTKeyCollection().add(
            hmac: "a shared secret of more than thirty-two bytes", digestAlgorithm: .sha256
        ).sign(
            Payload(Self.claims))
        #expect(try await refusal(of: shared, key: key) == .algorithm)
        #expect(try await refusal(of: "nonsense", key: key) == .form)
    }

    @Test("A role is found in a list, a text, or an inner object")
    func roles() throws {
        let mapping = RoleMapping(claim: "realm_access.roles", superUsers: ["it"], communicators: ["staff"])
        #expect(mapping.role(in: ["realm_access": ["roles": ["x", "staff"]]]) == .communicator)
        #expect(mapping.role(in: ["realm_access": ["roles": ["it", "staff"]]]) == .superUser)
        #expect(mapping.role(in: ["realm_access.roles": "staff"]) == .communicator)
        #expect(mapping.role(in: ["realm_access": ["roles": ["x"]]]) == nil)
        #expect(mapping.role(in: ["roles": ["it"]]) == nil)
        #expect(mapping.role(in: ["realm_access": "it"]) == nil)
    }

    @Test("A sealed flow is read with its key, and for ten minutes")
    func flow() throws {
        let key = try SealingKey(id: "a", bytes: Data.random(count: 32).base64EncodedString()).key
        let other = try SealingKey(id: "a", bytes: Data.random(count: 32).base64EncodedString()).key
        let flow = OpenIDFlow(redirect: "https://msi.example.edu/", confirms: nil, now: Self.now)
        let sealed = try flow.sealed(by: key)
        #expect(!sealed.text.contains(flow.state))
        #expect(try OpenIDFlow(sealed, key: key, now: Self.now + .seconds(599)) == flow)
        #expect(throws: CommandFailure.self) { try OpenIDFlow(sealed, key: key, now: Self.now + .seconds(600)) }
        #expect(throws: CommandFailure.self) { try OpenIDFlow(sealed, key: other, now: Self.now) }
        #expect(throws: CommandFailure.self) { try OpenIDFlow(Secret("x"), key: key, now: Self.now) }
    }
}
