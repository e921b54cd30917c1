import Crypto
package import FoundationEssentials
package import Base
package import Schemas

/// The keys that a browser has made for its subscription (RFC 8291, section 2). Only the browser can read what is encrypted with them.
package struct BrowserKeys: Sendable {
    let publicKey: P256.KeyAgreement.PublicKey
    /// The public key as an uncompressed point.
    package let point: Data
    /// The authentication secret.
    package let auth: Data

    /// The length of an uncompressed point of P-256.
    static let pointLength = 65
    static let authLength = 16

    /// Reads the keys of a subscription.
    ///
    /// - Parameters:
    ///   - p256dh: An uncompressed point of P-256 in URL-safe Base64.
    ///   - auth: 16 bytes in URL-safe Base64.
    /// - Throws: ``SchemaViolation`` with the field `p256dh` or `auth`. It does not contain the secret.
    package init(p256dh: String, auth: Secret) throws(SchemaViolation) {
        guard let point = Data(base64URL: p256dh) else {
            throw SchemaViolation(field: "p256dh", problem: "expected URL-safe Base64")
        }
        guard point.count == Self.pointLength else {
            throw SchemaViolation(
                field: "p256dh",
                problem: "expected an uncompressed point of P-256, \(Self.pointLength) bytes, found \(point.count)")
        }
        guard point.first == 4 else {
            throw SchemaViolation(field: "p256dh", problem: "expected an uncompressed point, which begins with the byte 4")
        }
        guard let publicKey = try? P256.KeyAgreement.PublicKey(x963Representation: point) else {
            throw SchemaViolation(field: "p256dh", problem: "expected a point on the curve P-256, found one beside it")
        }
        guard let secret = Data(base64URL: auth.text) else {
            throw SchemaViolation(field: "auth", problem: "expected URL-safe Base64")
        }
        guard secret.count == Self.authLength else {
            throw SchemaViolation(field: "auth", problem: "expected \(Self.authLength) bytes, found \(secret.count)")
        }
        guard secret.contains(where: { $0 != 0 }) else {
            throw SchemaViolation(field: "auth", problem: "expected a random secret, found only zeros")
        }
        self.publicKey = publicKey
        self.point = point
        self.auth = secret
    }
}
