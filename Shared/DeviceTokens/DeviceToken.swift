package import Crypto
import FoundationEssentials
import Base
package import Schemas

/// The token of a device: a JSON Web Token (RFC 7519) that is signed by ES256, `header.claims.signature`.
///
/// There is one form of it, and everything else is refused (RFC 8725): one algorithm, a header with three fields, and no field that names
/// a key or where to find one.
package enum DeviceToken {
    /// The header. Its fields are read strictly, so that no other field can change what is checked.
    private struct Header: Codable {
        let alg: String
        let kid: String
        let typ: String

        enum CodingKeys: String, CodingKey, CaseIterable {
            case alg, kid, typ
        }
    }

    private static let algorithm = "ES256"
    /// So that no token of another kind is taken for it.
    private static let tokenType = "msi-device+jwt"
    /// Longer ones are refused before anything is read. Ours have about 400 bytes.
    package static let maxLength = 2_048
    /// The two numbers of a signature, 32 bytes each (RFC 7518, section 3.4).
    private static let signatureLength = 64

    /// Makes a token.
    ///
    /// - Parameter id: The `kid` of the key.
    /// - Throws: An error of the cryptography, or of the encoder.
    package static func signed(
        _ claims: DeviceTokenClaims, by key: P256.Signing.PrivateKey, id: String
    ) throws -> Secret {
        let header = try JSONCoder.encode(Header(alg: algorithm, kid: id, typ: tokenType))
        let signed = try "\(header.base64URL).\(JSONCoder.encode(claims).base64URL)"
        let signature = try key.signature(for: Data(signed.utf8)).rawRepresentation
        return Secret("\(signed).\(signature.base64URL)")
    }

    /// Whether a bearer token has the form of a device's, and not that of a script's. It is not checked by this.
    package static func hasForm(_ token: String) -> Bool {
        token.utf8.count <= maxLength && token.utf8.count { $0 == UInt8(ascii: ".") } == 2
    }

    /// The claims of a token whose signature is right. The caller checks its times and whether it was ended.
    ///
    /// - Parameter keys: The keys whose tokens count, by their `kid`.
    /// - Throws: ``DeviceTokenRefusal``.
    package static func claims(
        of token: String, keys: [String: P256.Signing.PublicKey]
    ) throws(DeviceTokenRefusal) -> DeviceTokenClaims {
        guard token.utf8.count <= maxLength else { throw .form }
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let head = bytes(parts[0]), let payload = bytes(parts[1]), let tail = bytes(parts[2]),
            let header = try? JSONCoder.decodeStrictly(Header.self, from: head)
        else { throw .form }
        guard header.alg == algorithm, header.typ == tokenType else { throw .algorithm }
        guard let key = keys[header.kid] else { throw .key }
        guard tail.count == signatureLength, let signature = try? P256.Signing.ECDSASignature(rawRepresentation: tail),
            key.isValidSignature(signature, for: Data("\(parts[0]).\(parts[1])".utf8))
        else { throw .signature }
        // A later version may sign further claims.
        guard let claims = try? JSONCoder.decode(DeviceTokenClaims.self, from: payload) else { throw .form }
        return claims
    }

    /// Only the one text that stands for some bytes is taken: without padding, and without spare bits.
    private static func bytes(_ part: Substring) -> Data? {
        guard !part.isEmpty, let data = Data(base64URL: part), data.base64URL == part else { return nil }
        return data
    }
}

/// Why the token of a device is refused. The cases are few, so they can be labels of a metric; none contains anything of the token.
package enum DeviceTokenRefusal: String, Error, CaseIterable, Sendable {
    /// It is not one of ours.
    case form
    case algorithm
    /// It names no key whose tokens count.
    case key
    case signature
    /// It was issued in the future.
    case early
    case expired
    /// Its device has signed out, or its account was disabled or erased.
    case ended

    /// One sentence for the person.
    package var text: String {
        switch self {
        case .form: "This is no token of a device."
        case .algorithm: "The token is signed by another algorithm."
        case .key: "The token's key is unknown, or was withdrawn."
        case .signature: "The token's signature is wrong."
        case .early: "The token is not valid yet; the clocks may differ."
        case .expired: "The token has expired; the device gets a new one by POST /user/token."
        case .ended: "The device has signed out; sign in again."
        }
    }
}

extension DeviceTokenClaims {
    /// How far the clocks of a gateway and the people service may differ, in seconds.
    private static var leeway: Int64 { PeopleLimits.clockTolerance.rawValue / 1_000 }

    /// Checks the times of a token whose signature is right.
    ///
    /// - Parameter isOffline: Whether the people service cannot be reached: the token is then valid for longer.
    /// - Throws: ``DeviceTokenRefusal``.
    package func check(at now: UnixMilliseconds, isOffline: Bool) throws(DeviceTokenRefusal) {
        guard iat <= now.seconds + Self.leeway, exp > iat,
            exp.subtracting(iat) <= PersonLimits.tokenTime.rawValue / 1_000
        else {
            throw .early
        }
        let end = isOffline ? iat + PersonLimits.offlineTokenTime.rawValue / 1_000 : exp + Self.leeway
        guard now.seconds < end else { throw .expired }
    }
}
