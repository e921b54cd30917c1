import Crypto
import FoundationEssentials
import Schemas

/// The keys of the canary's own Web Push subscription, with which it reads pushes as a browser does (RFC 8291).
struct PushKeys: Sendable {
    /// Why the body of a push is not read.
    struct Unreadable: Error {}

    private static let authLength = 16
    private static let saltLength = 16
    private static let pointLength = 65
    /// The salt, the record size, the length of the key id, and the key id, which is the sender's public key.
    private static let headerLength = saltLength + 4 + 1 + pointLength
    private static let tagLength = 16
    /// The delimiter of the last record. Zeros may follow it.
    private static let lastRecord: UInt8 = 2

    private let key = P256.KeyAgreement.PrivateKey(compactRepresentable: false)
    private let auth = Self.random()

    /// The public key as an uncompressed point in URL-safe Base64.
    var p256dh: String { key.publicKey.x963Representation.base64URL }
    /// The authentication secret in URL-safe Base64.
    var authSecret: Secret { Secret(auth.base64URL) }

    /// A name that nobody guesses.
    static func randomName() -> String { random().base64URL }

    /// Decrypts the body of a push: the content encoding `aes128gcm`, in one record.
    ///
    /// - Throws: ``Unreadable``, or an error of the cryptography.
    func read(_ body: Data) throws -> Data {
        let bytes = Array(body)
        guard bytes.count > Self.headerLength + Self.tagLength, bytes[Self.saltLength + 4] == Self.pointLength else {
            throw Unreadable()
        }
        let salt = Data(bytes[..<Self.saltLength])
        let senderPoint = Data(bytes[(Self.saltLength + 5)..<Self.headerLength])
        let sender = try P256.KeyAgreement.PublicKey(x963Representation: senderPoint)
        // RFC 8291, section 3.4.
        let keyInfo = Data("WebPush: info\0".utf8) + key.publicKey.x963Representation + senderPoint
        let inputKey = try key.sharedSecretFromKeyAgreement(with: sender).hkdfDerivedSymmetricKey(
            using: SHA256.self, salt: auth, sharedInfo: keyInfo, outputByteCount: 32)
        func derive(_ encoding: String, _ count: Int) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: inputKey, salt: salt, info: Data("Content-Encoding: \(encoding)\0".utf8),
                outputByteCount: count)
        }
        let nonce = derive("nonce", 12).withUnsafeBytes { Data($0) }
        let sealed = try AES.GCM.SealedBox(
            nonce: AES.GCM.Nonce(data: nonce), ciphertext: bytes[Self.headerLength...].dropLast(Self.tagLength),
            tag: bytes.suffix(Self.tagLength))
        let record = try AES.GCM.open(sealed, using: derive("aes128gcm", 16))
        guard let end = record.lastIndex(where: { $0 != 0 }), record[end] == Self.lastRecord else { throw Unreadable() }
        return Data(record[..<end])
    }

    private static func random() -> Data {
        // Swift's generator is the system's, which is cryptographically secure.
        withUnsafeBytes(of: UInt128.random(in: .min ... .max)) { Data($0) }
    }
}

extension Data {
    /// URL-safe Base64 without padding.
    fileprivate var base64URL: String {
        base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
