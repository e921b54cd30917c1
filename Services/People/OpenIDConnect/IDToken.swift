import FoundationEssentials
import Base
import JWTKit
import Schemas

/// The claims of an ID token whose signature is right (OpenID Connect Core 1.0, section 3.1.3.7).
struct IDToken: Sendable {
    /// The algorithms of public keys. `none`, and those with a shared secret, are refused.
    static let algorithms: Set = [
        "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
    ]
    /// How far the two clocks may differ, in seconds.
    private static let leeway = 60
    /// The maximum age in seconds.
    private static let maxAge = 600

    let subject: String
    let claims: JSONValue

    /// The part of a token's header that selects the key.
    struct Header: Codable, Hashable {
        let alg: String
        let kid: String?

        init(of token: String) throws(IDTokenRefusal) {
            guard let part = token.split(separator: ".", omittingEmptySubsequences: false).first,
                let json = Data(base64URL: part), let header = try? JSONCoder.decode(Self.self, from: json)
            else { throw IDTokenRefusal("it is no token") }
            guard IDToken.algorithms.contains(header.alg) else { throw IDTokenRefusal("its algorithm is not allowed") }
            self = header
        }
    }

    /// Checks a token's signature and claims.
    ///
    /// - Throws: ``IDTokenRefusal``.
    init(
        _ token: String, key: JWK, issuer: String, clientID: String, nonce: String, confirmedAfter: UnixMilliseconds?,
        now: UnixMilliseconds
    ) async throws(IDTokenRefusal) {
        do {
            var key = key
            // JWTKit requires one.
            key.keyIdentifier = key.keyIdentifier ?? JWKIdentifier(string: "")
            let keys = try await JWTKeyCollection().add(jwk: key, isDefault: true)
            _ = try await keys.verify(token, as: AnyPayload.self)
        } catch {
            throw IDTokenRefusal("its signature is wrong")
        }
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let json = Data(base64URL: parts[1]),
            let claims = try? JSONCoder.decode(JSONValue.self, from: json)
        else { throw IDTokenRefusal("its payload is no JSON") }
        self.claims = claims
        guard let subject = claims["sub"]?.string, (1...255).contains(subject.utf8.count) else {
            throw IDTokenRefusal("it has no sub")
        }
        self.subject = subject
        guard claims["iss"]?.string == issuer else {
            throw IDTokenRefusal(
                "its issuer is \((claims["iss"]?.string ?? "missing").prefix(200)), and MSI_OIDC_ISSUER is \(issuer)")
        }
        try Self.checkAudience(claims, clientID)
        try Self.checkTimes(claims, now: Int(now.seconds))
        guard claims["nonce"]?.string == nonce else { throw IDTokenRefusal("its nonce is of another sign-in") }
        if let confirmedAfter {
            guard let time = claims["auth_time"]?.seconds, time >= Int(confirmedAfter.seconds) - Self.leeway else {
                throw IDTokenRefusal("the provider has not asked for the password again")
            }
        }
    }

    private static func checkAudience(_ claims: JSONValue, _ clientID: String) throws(IDTokenRefusal) {
        let audience = claims["aud"]?.elements?.compactMap(\.string) ?? [claims["aud"]?.string].compactMap { $0 }
        guard audience.contains(clientID) else { throw IDTokenRefusal("it is for another client") }
        let party = claims["azp"]?.string
        guard party == clientID || party == nil && audience.count == 1 else {
            throw IDTokenRefusal("it was issued to another client")
        }
    }

    private static func checkTimes(_ claims: JSONValue, now: Int) throws(IDTokenRefusal) {
        guard let expiry = claims["exp"]?.seconds, expiry > now - leeway else { throw IDTokenRefusal("it has expired") }
        guard let issued = claims["iat"]?.seconds, issued <= now + leeway, issued >= now - maxAge else {
            throw IDTokenRefusal("it was not issued just now; the clocks may differ")
        }
        if let start = claims["nbf"]?.seconds, start > now + leeway { throw IDTokenRefusal("it is not valid yet") }
    }
}

/// Why an ID token is refused. The text contains nothing of the token but its issuer.
struct IDTokenRefusal: Error, Hashable {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}

/// The claims are read by ``IDToken``: JWTKit only checks the signature.
private struct AnyPayload: JWTPayload {
    func verify(using algorithm: some JWTAlgorithm) {}
}

extension JSONValue {
    /// A time in Unix seconds; a fraction is dropped.
    fileprivate var seconds: Int? {
        guard case .number(let digits) = self, let number = Double(digits), number.magnitude < 1e15 else { return nil }
        return Int(number)
    }
}
