import Crypto
package import FoundationEssentials
import Base
package import Schemas

/// The keys of a program's own Web Push subscription, with which it reads pushes as a browser does (RFC 8291).
package struct PushKeys: Sendable {
    /// Why the body of a push is not read.
    package struct Unreadable: Error {}

    private let key = P256.KeyAgreement.PrivateKey(compactRepresentable: false)
    private let auth = PushEncryption.randomBytes()

    package init() {}

    /// The public key as an uncompressed point in URL-safe Base64.
    package var p256dh: String { key.publicKey.x963Representation.base64URL }
    /// The authentication secret in URL-safe Base64.
    package var authSecret: Secret { Secret(auth.base64URL) }

    /// A random name of 128 bits.
    package static func randomName() -> String { PushEncryption.randomBytes().base64URL }

    /// Decrypts the body of a push: the content encoding `aes128gcm`, in one record.
    ///
    /// - Throws: ``Unreadable``, or an error of the cryptography.
    package func read(_ body: Data) throws -> Data {
        let bytes = Array(body)
        let (saltLength, headerLength) = (PushEncryption.saltLength, PushEncryption.headerLength)
        guard bytes.count > headerLength + PushEncryption.tagLength, bytes[saltLength + 4] == BrowserKeys.pointLength else {
            throw Unreadable()
        }
        let senderPoint = Data(bytes[(saltLength + 5)..<headerLength])
        let sender = try P256.KeyAgreement.PublicKey(x963Representation: senderPoint)
        let content = try ContentKey(
            key.sharedSecretFromKeyAgreement(with: sender), auth: auth, browser: key.publicKey.x963Representation,
            sender: senderPoint, salt: Data(bytes[..<saltLength]))
        let sealed = try AES.GCM.SealedBox(
            nonce: content.nonce, ciphertext: bytes[headerLength...].dropLast(PushEncryption.tagLength),
            tag: bytes.suffix(PushEncryption.tagLength))
        let record = try AES.GCM.open(sealed, using: content.key)
        // Zeros may follow the delimiter.
        guard let end = record.lastIndex(where: { $0 != 0 }), record[end] == PushEncryption.lastRecord else {
            throw Unreadable()
        }
        return Data(record[..<end])
    }
}
