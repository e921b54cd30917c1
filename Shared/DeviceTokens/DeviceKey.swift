import Crypto
import FoundationEssentials
package import Base
package import Schemas

/// The public key of a device.
package struct DeviceKey: Sendable {
    /// The SHA-256 of the point, in URL-safe Base64: what identifies the device, and the `nonce` of an ID token that was made for it.
    package let thumbprint: String
    private let key: P256.Signing.PublicKey

    /// The length of an uncompressed point of P-256.
    private static let pointLength = 65

    /// - Parameter text: An uncompressed point in URL-safe Base64.
    /// - Throws: ``SchemaViolation`` with the field `key`.
    package init(_ text: String) throws(SchemaViolation) {
        guard let point = Data(base64URL: text), point.count == Self.pointLength, point.first == 4,
            let key = try? P256.Signing.PublicKey(x963Representation: point)
        else { throw SchemaViolation(field: "key", problem: "expected an uncompressed point of P-256 in URL-safe Base64") }
        self.key = key
        thumbprint = Data(SHA256.hash(data: point)).base64URL
    }

    /// Whether the device has signed a text.
    ///
    /// - Parameter proof: The signature in its raw form, 64 bytes in URL-safe Base64.
    package func hasSigned(_ purpose: DeviceProof.Purpose, nonce: Secret, subject: String, proof: String) -> Bool {
        guard let bytes = Data(base64URL: proof), let signature = try? P256.Signing.ECDSASignature(rawRepresentation: bytes)
        else {
            return false
        }
        return key.isValidSignature(signature, for: Data(DeviceProof.text(purpose, nonce: nonce, subject: subject).utf8))
    }
}

extension PersonCredential {
    /// The subject of the proof of a sign-in: the SHA-256 of what it proves, in hexadecimal digits.
    package var proofSubject: String {
        CredentialHash(digest: SHA256.hash(data: Data(provenText.utf8))).description
    }
}
