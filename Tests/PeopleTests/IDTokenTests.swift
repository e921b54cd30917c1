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

    /// The refusal of a token; `nil` if it is accepted.
    private func refusal(
        _ claims: JSONValue, confirmedAfter: UnixMilliseconds? = nil, header: JWTHeader = [:]
    ) async throws -> String? {
        let key = ES256PrivateKey()
        let token = try await JWTKeyCollection().add(ecdsa: key).sign(Payload(claims), header: header)
        return try await refusal(of: token, key: key, confirmedAfter: confirmedAfter)
    }

    private func refusal(
        of token: String, key: ES256PrivateKey, confirmedAfter: UnixMilliseconds? = nil
    ) async throws -> String? {
        let parameters = try #require(key.publicKey.parameters)
        let jwk = JWK.ecdsa(.es256, identifier: nil, x: parameters.x, y: parameters.y, curve: .p256)
        do throws(IDTokenRefusal) {
            _ = try IDToken.Header(of: token)
            let read = try await IDToken(
                token, key: jwk, issuer: "https://id.example.edu", clientID: "msi", nonce: "n",
                confirmedAfter: confirmedAfter, now: Self.now)
            #expect(read.subject == "17")
            return nil
        } catch {
            return error.reason
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
            ("iss", "https://id.example.com", "issuer"), ("iss", nil, "issuer"), ("aud", "other", "client"),
            ("aud", nil, "client"), ("aud", ["msi", "other"], "client"), ("azp", "other", "client"),
            ("nonce", "m", "nonce"), ("nonce", nil, "nonce"), ("sub", nil, "sub"), ("sub", "", "sub"),
            ("exp", .integer(seconds - 61), "expired"), ("exp", nil, "expired"), ("exp", "soon", "expired"),
            ("iat", .integer(seconds + 61), "just now"), ("iat", .integer(seconds - 601), "just now"), ("iat", nil, "just now"),
            ("nbf", .integer(seconds + 61), "not valid yet"),
        ] as [(String, JSONValue?, String)])
    func refused(name: String, value: JSONValue?, reason: String) async throws {
        let refusal = try await refusal(changed(name, value))
        #expect(refusal?.contains(reason) == true, "\(String(describing: refusal))")
    }

    @Test("A token without a recent password is not confirmed")
    func confirmation() async throws {
        let old = changed("auth_time", .integer(Self.seconds - 3_600))
        #expect(try await refusal(old) == nil)
        #expect(try await refusal(old, confirmedAfter: Self.now)?.contains("password") == true)
        #expect(try await refusal(changed("auth_time", nil), confirmedAfter: Self.now)?.contains("password") == true)
    }

    @Test("A token of another key, without a signature, or with a shared secret is refused")
    func signatures() async throws {
        let key = ES256PrivateKey()
        let other = try await JWTKeyCollection().add(ecdsa: ES256PrivateKey()).sign(Payload(Self.claims))
        #expect(try await refusal(of: other, key: key) == "its signature is wrong")
        let parts = other.split(separator: ".")
        let header = Data(#"{"alg":"none"}"#.utf8).base64URL
        #expect(try await refusal(of: "\(header).\(parts[1]).", key: key) == "its algorithm is not allowed")
        let shared = try await JWTKeyCollection().add(
            hmac: "a shared secret of more than thirty-two bytes", digestAlgorithm: .sha256
        ).sign(
            Payload(Self.claims))
        #expect(try await refusal(of: shared, key: key) == "its algorithm is not allowed")
        #expect(try await refusal(of: "nonsense", key: key) == "it is no token")
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
