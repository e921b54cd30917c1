import Crypto
import FoundationEssentials
import Base
import Schemas
import Synchronization
import WebPushStore

/// Makes the header `Authorization` of pushes (RFC 8292): a token that names the push service and the operator, signed by a ``VAPIDKey``.
///
/// A token is kept for twelve hours for each push service, since push services remember the ones that they have checked.
final class VAPIDTokens: Sendable {
    private struct Place: Hashable {
        let key: ObjectID
        let origin: String
    }

    private struct Token {
        let header: String
        let made: UnixMilliseconds
    }

    /// The claims, sorted by name as they are written.
    private struct Claims: Encodable {
        let aud: String
        let exp: Int64
        let sub: String
    }

    /// How long one is used.
    static let useTime = Milliseconds.seconds(12 * 3_600)
    /// RFC 8292 allows 24 hours. The rest is for clocks that differ.
    static let lifetime = Milliseconds.seconds(20 * 3_600)
    /// Strangers choose among the hosts below a known domain, so the number is limited.
    private static let maxTokens = 1_000
    /// `{"typ":"JWT","alg":"ES256"}`
    private static let header = Data(#"{"typ":"JWT","alg":"ES256"}"#.utf8).base64URL

    private let contact: String
    private let tokens = Mutex<[Place: Token]>([:])

    /// - Parameter contact: The operator's address, a `mailto:` or `https:` URL: Apple and Mozilla require it.
    init(contact: String) {
        self.contact = contact
    }

    /// The value of the header.
    ///
    /// - Parameter origin: The push service's origin.
    /// - Throws: An error of the cryptography, or of the encoder; none for a valid key.
    func authorization(for origin: String, by key: VAPIDKey, now: UnixMilliseconds = .now) throws -> String {
        let place = Place(key: key.id, origin: origin)
        // One that seems to come from the future was made before the clock was set back.
        if let known = tokens.withLock({ $0[place] }), known.made <= now, now < known.made + Self.useTime { return known.header }
        let claims = try JSONCoder.encode(Claims(aud: origin, exp: (now + Self.lifetime).seconds, sub: contact))
        let signed = "\(Self.header).\(claims.base64URL)"
        // The raw form of a signature is that of a JWT: the two numbers, 32 bytes each (RFC 7518, section 3.4).
        let signature = try key.signingKey.signature(for: Data(signed.utf8)).rawRepresentation
        let header = "vapid t=\(signed).\(signature.base64URL), k=\(key.publicKey)"
        tokens.withLock { tokens in
            if tokens.count >= Self.maxTokens { tokens = [:] }
            tokens[place] = Token(header: header, made: now)
        }
        return header
    }
}
