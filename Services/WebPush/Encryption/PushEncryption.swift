import Crypto
import FoundationEssentials

/// Encrypts the body of a push for one browser: the content encoding `aes128gcm` (RFC 8188) with the keys of RFC 8291, in one record.
enum PushEncryption {
    /// The maximum length of a text. With the header, the delimiter and the tag it then has 4,096 bytes, which every push service takes.
    static let maxLength = recordSize - headerLength - delimiterLength - tagLength

    private static let recordSize = 4_096
    private static let saltLength = 16
    /// The salt, the record size, the length of the key id, and the key id, which is the sender's public key.
    private static let headerLength = saltLength + 4 + 1 + BrowserKeys.pointLength
    private static let delimiterLength = 1
    private static let tagLength = 16
    /// The delimiter of the last record.
    private static let lastRecord: UInt8 = 2

    /// - Parameters:
    ///   - text: At most ``maxLength`` bytes.
    ///   - sender: The sender's key, which is used for this message only.
    ///   - salt: 16 random bytes.
    /// - Returns: The body, at most 4,096 bytes.
    /// - Throws: An error of the cryptography; none for a valid key.
    static func encrypt(
        _ text: Data, to browser: BrowserKeys,
        from sender: P256.KeyAgreement.PrivateKey = .init(compactRepresentable: false), salt: Data = PushEncryption.newSalt()
    ) throws -> Data {
        precondition(text.count <= maxLength, "a push of \(text.count) bytes")
        let senderPoint = sender.publicKey.x963Representation
        // RFC 8291, section 3.4. The function extracts with the authentication secret as salt, and expands.
        let keyInfo = Data("WebPush: info\0".utf8) + browser.point + senderPoint
        let inputKey = try sender.sharedSecretFromKeyAgreement(with: browser.publicKey).hkdfDerivedSymmetricKey(
            using: SHA256.self, salt: browser.auth, sharedInfo: keyInfo, outputByteCount: 32)
        // RFC 8188, section 2.2 and 2.3.
        let pseudoRandomKey = HKDF<SHA256>.extract(inputKeyMaterial: inputKey, salt: salt)
        let contentKey = HKDF<SHA256>.expand(
            pseudoRandomKey: pseudoRandomKey, info: Data("Content-Encoding: aes128gcm\0".utf8), outputByteCount: 16)
        let nonce = HKDF<SHA256>.expand(
            pseudoRandomKey: pseudoRandomKey, info: Data("Content-Encoding: nonce\0".utf8), outputByteCount: 12)
        var record = text
        record.append(lastRecord)
        let sealed = try AES.GCM.seal(
            record, using: contentKey, nonce: AES.GCM.Nonce(data: nonce.withUnsafeBytes { Data($0) }))
        var body = Data(capacity: headerLength + record.count + tagLength)
        body.append(salt)
        withUnsafeBytes(of: UInt32(recordSize).bigEndian) { body.append(contentsOf: $0) }
        body.append(UInt8(senderPoint.count))
        body.append(senderPoint)
        body.append(sealed.ciphertext)
        body.append(sealed.tag)
        return body
    }

    static func newSalt() -> Data {
        // Swift's generator is the system's, which is cryptographically secure.
        withUnsafeBytes(of: UInt128.random(in: .min ... .max)) { Data($0) }
    }
}
