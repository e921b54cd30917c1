import FoundationEssentials
import Base
import JWTKit
import Schemas

/// An ID token whose signature and claims are right (OpenID Connect Core 1.0, section 3.1.3.7; RFC 8725).
struct IDToken: Sendable {
    /// The algorithms of public keys. `none`, and those with a shared secret, are refused.
    static let algorithms: Set = [
        "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
    ]
    /// How far the two clocks may differ, in seconds.
    private static let leeway: Int64 = 60
    /// The maximum time between `iat` and `exp`, in seconds. A time in milliseconds is far beyond it.
    private static let maxLifetime: Int64 = 86_400

    let subject: String
    let claims: JSONValue
    /// From then on nobody takes it.
    let expires: UnixMilliseconds

    /// The part of a token's header that selects the key.
    private struct Header {
        let algorithm: String
        let key: String?

        private static let maxKeyLength = 128
        /// With one of these, the token itself would say how it is to be checked.
        private static let refused: Set = ["crit", "jku", "x5u", "x5c", "jwk", "b64", "zip"]

        init(_ json: Data, allowing algorithms: Set<String>) throws(IDTokenRefusal) {
            guard let fields = try? JSONCoder.decode(JSONValue.self, from: json), let members = fields.members else {
                throw .form
            }
            guard members.allSatisfy({ !Self.refused.contains($0.name) }) else { throw .header }
            guard let algorithm = fields["alg"]?.string, algorithms.contains(algorithm) else { throw .algorithm }
            self.algorithm = algorithm
            // Such as at+jwt, dpop+jwt and logout+jwt.
            if let type = fields["typ"] {
                guard let type = type.string?.lowercased(), !type.hasSuffix("+jwt") else { throw .kind }
            }
            key = fields["kid"]?.string
            guard fields["kid"] == nil || key.map({ (1...Self.maxKeyLength).contains($0.utf8.count) }) == true else {
                throw .key
            }
        }
    }

    /// Checks a token's signature and claims.
    ///
    /// - Throws: ``IDTokenRefusal``; the errors of the keys.
    init(_ token: String, by keys: any KeySource, _ rules: IDTokenRules, now: UnixMilliseconds) async throws {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard token.utf8.count <= rules.maxBytes, parts.count == 3, let head = Self.bytes(parts[0]),
            let payload = Self.bytes(parts[1]), Self.bytes(parts[2]) != nil,
            let claims = try? JSONCoder.decode(JSONValue.self, from: payload), claims.members != nil
        else { throw IDTokenRefusal.form }
        let header = try Header(head, allowing: rules.algorithms)
        let key = try await keys.key(header.key)
        try await Self.checkSignature(token, header.algorithm, by: key)
        self.claims = claims
        // It belongs to the tokens of a sign-out (OpenID Connect Back-Channel Logout 1.0).
        guard claims["events"] == nil else { throw IDTokenRefusal.kind }
        guard let subject = claims["sub"]?.string, (1...255).contains(subject.utf8.count) else { throw IDTokenRefusal.subject }
        self.subject = subject
        guard claims["iss"]?.isOne(of: rules.issuers) == true else { throw IDTokenRefusal.issuer }
        try rules.audience.check(claims)
        expires = try Self.checkTimes(claims, rules, now: now.seconds)
        try rules.nonce.check(claims["nonce"])
    }

    /// Only the one text that stands for some bytes is taken: without padding, and without spare bits.
    private static func bytes(_ part: Substring) -> Data? {
        guard !part.isEmpty, let data = Data(base64URL: part), data.base64URL == part else { return nil }
        return data
    }

    private static func checkSignature(_ token: String, _ algorithm: String, by key: JWK) async throws(IDTokenRefusal) {
        guard !PublishedKeys.contain(key) else { throw .key }
        guard key.algorithm == nil || key.algorithm?.rawValue == algorithm else { throw .algorithm }
        do {
            var key = key
            // A provider that publishes it has lost it, but it is not used here.
            key.privateExponent = nil
            // JWTKit requires one.
            key.keyIdentifier = key.keyIdentifier ?? JWKIdentifier(string: "")
            let keys = try await JWTKeyCollection().add(jwk: key, isDefault: true)
            _ = try await keys.verify(token, as: AnyPayload.self)
        } catch {
            throw .signature
        }
    }

    /// - Returns: When it ends.
    private static func checkTimes(
        _ claims: JSONValue, _ rules: IDTokenRules, now: Int64
    ) throws(IDTokenRefusal) -> UnixMilliseconds {
        guard let expiry = claims["exp"]?.seconds, expiry > now - leeway else { throw .expired }
        guard let issued = claims["iat"]?.seconds, issued <= now + leeway else { throw .issued }
        if let maxAge = rules.maxAge, issued < now - Seconds(maxAge).rawValue { throw .issued }
        guard expiry - issued <= maxLifetime else { throw .lifetime }
        if let start = claims["nbf"] {
            guard let start = start.seconds, start <= now + leeway else { throw .early }
        }
        if let confirmedAfter = rules.confirmedAfter {
            guard let time = claims["auth_time"]?.seconds, time >= confirmedAfter.seconds - leeway else { throw .confirmation }
        }
        return UnixMilliseconds(rawValue: 0) + .seconds(expiry + leeway)
    }
}

/// What is particular to a provider.
extension IDToken {
    /// The address that the provider has verified.
    var email: String? {
        guard claims["email_verified"] == .boolean(true) else { return nil }
        return claims["email"]?.string.flatMap { TextLimits(max: 254).problem(with: $0) == nil ? $0 : nil }
    }

    /// - Parameter domains: The organisations whose accounts are taken; empty for all.
    func checkGoogle(domains: [String]) throws(IDTokenRefusal) {
        if !domains.isEmpty {
            guard claims["hd"]?.isOne(of: Set(domains.map(ExactText.init))) == true else { throw .domain }
        }
        guard claims["email_verified"] == nil || claims["email_verified"] == .boolean(true) else { throw .email }
    }

    func checkFirebase(now: UnixMilliseconds) throws(IDTokenRefusal) {
        guard subject.unicodeScalars.count <= 128, claims["user_id"]?.isOne(of: [ExactText(subject)]) == true else {
            throw .subject
        }
        guard let signedIn = claims["auth_time"]?.seconds, signedIn <= now.seconds + Self.leeway else { throw .early }
        guard claims["firebase"]?["tenant"] == nil else { throw .tenant }
        guard let way = claims["firebase"]?["sign_in_provider"]?.string, way != "anonymous" else { throw .anonymous }
        guard claims["email"] == nil || claims["email_verified"] == .boolean(true) else { throw .email }
    }
}

extension IDTokenRules.Audience {
    fileprivate func check(_ claims: JSONValue) throws(IDTokenRefusal) {
        let audiences = claims["aud"]?.elements ?? [claims["aud"]].compactMap(\.self)
        let party = claims["azp"]
        switch self {
        case .text(let clients, let partyCounts):
            guard claims["aud"]?.isOne(of: clients) == true else { throw .audience }
            guard !partyCounts || party == nil || party?.isOne(of: clients) == true else { throw .party }
        case .containing(let client):
            guard audiences.contains(where: { $0.isOne(of: [client]) }) else { throw .audience }
            guard party?.isOne(of: [client]) ?? (audiences.count == 1) else { throw .party }
        case .among(let clients):
            guard !audiences.isEmpty, audiences.allSatisfy({ $0.isOne(of: clients) }) else { throw .audience }
            guard party?.isOne(of: clients) ?? (audiences.count == 1) else { throw .party }
        }
    }
}

extension IDTokenRules.Nonce {
    fileprivate func check(_ nonce: JSONValue?) throws(IDTokenRefusal) {
        switch self {
        case .exactly(let text): guard nonce?.isOne(of: [ExactText(text)]) == true else { throw .nonce }
        case .atMost(let text): guard nonce?.isOne(of: [ExactText(text)]) ?? true else { throw .nonce }
        case .any: break
        }
    }
}

/// The claims are read by ``IDToken``: JWTKit only checks the signature.
private struct AnyPayload: JWTPayload {
    func verify(using algorithm: some JWTAlgorithm) {}
}

extension JSONValue {
    /// A time in whole Unix seconds.
    fileprivate var seconds: Int64? {
        guard let number = number.flatMap(Double.init), let whole = Int64(exactly: number), whole.magnitude < 1 << 53 else {
            return nil
        }
        return whole
    }

    /// Whether it is exactly one of some texts. Swift's comparison would take texts that only look the same.
    fileprivate func isOne(of texts: Set<ExactText>) -> Bool { string.map { texts.contains(ExactText($0)) } ?? false }
}
