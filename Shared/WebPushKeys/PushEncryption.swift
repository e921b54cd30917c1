package import Crypto
package import FoundationEssentials

/// Encrypts the body of a push for one browser: the content encoding `aes128gcm` (RFC 8188) with the keys of RFC 8291, in one record.
package enum PushEncryption {
    /// How much longer a body is than its text: the header, the delimiter and the tag.
    package static let overhead = headerLength + delimiterLength + tagLength
    /// The maximum length of a text. Its body then has 4,096 bytes, which every push service takes.
    package static let maxLength = recordSize - overhead

    private static let recordSize = 4_096
    static let saltLength = 16
    /// The salt, the record size, the length of the key id, and the key id, which is the sender's public key.
    static let headerLength = saltLength + 4 + 1 + BrowserKeys.pointLength
    private static let delimiterLength = 1
    static let tagLength = 16
    /// The delimiter of the last record.
    static let lastRecord: UInt8 = 2

    /// - Parameters:
    ///   - text: At most ``maxLength`` bytes.
    ///   - sender: The sender's key, which is used for this message only.
    ///   - salt: 16 random bytes.
    /// - Returns: The body, at most 4,096 bytes.
    /// - Throws: An error of the cryptography; none for a valid key.
    package static func encrypt(
        _ text: Data, to browser: BrowserKeys,
        from sender: P256.KeyAgreement.PrivateKey = .init(compactRepresentable: false), salt: Data = PushEncryption.randomBytes()
    ) throws -> Data {
        precondition(text.count <= maxLength, "a push of \(text.count) bytes")
        let senderPoint = sender.publicKey.x963Representation
        let content = try ContentKey(
            sender.sharedSecretFromKeyAgreement(with: browser.publicKey), auth: browser.auth, browser: browser.point,
            sender: senderPoint, salt: salt)
        var record = text
        record.append(lastRecord)
        let sealed = try AES.GCM.seal(record, using: content.key, nonce: content.nonce)
        var body = Data(capacity: headerLength + record.count + tagLength)
        body.append(salt)
        withUnsafeBytes(of: UInt32(recordSize).bigEndian) { body.append(contentsOf: $0) }
        body.append(UInt8(senderPoint.count))
        body.append(senderPoint)
        body.append(sealed.ciphertext)
        body.append(sealed.tag)
        return body
    }

    /// Sixteen random bytes, such as a salt.
    package static func randomBytes() -> Data {
        // Swift's generator is the system's, which is cryptographically secure.
        withUnsafeBytes(of: UInt128.random(in: .min ... .max)) { Data($0) }
    }
}

/// What a record is encrypted with. The sender and the browser derive the same from their keys and the salt.
struct ContentKey {
    let key: SymmetricKey
    let nonce: AES.GCM.Nonce

    /// - Parameters:
    ///   - secret: What one side's private key and the other's public key have in common.
    ///   - auth: The browser's authentication secret.
    ///   - browser: The browser's public key as an uncompressed point.
    ///   - sender: The sender's.
    init(_ secret: SharedSecret, auth: Data, browser: Data, sender: Data, salt: Data) throws {
        // RFC 8291, section 3.4. The function extracts with the authentication secret as salt, and expands.
        let inputKey = secret.hkdfDerivedSymmetricKey(
            using: SHA256.self, salt: auth, sharedInfo: Data("WebPush: info\0".utf8) + browser + sender, outputByteCount: 32)
        // RFC 8188, section 2.2 and 2.3.
        let pseudoRandomKey = HKDF<SHA256>.extract(inputKeyMaterial: inputKey, salt: salt)
        key = HKDF<SHA256>.expand(
            pseudoRandomKey: pseudoRandomKey, info: Data("Content-Encoding: aes128gcm\0".utf8), outputByteCount: 16)
        let nonce = HKDF<SHA256>.expand(
            pseudoRandomKey: pseudoRandomKey, info: Data("Content-Encoding: nonce\0".utf8), outputByteCount: 12)
        self.nonce = try AES.GCM.Nonce(data: nonce.withUnsafeBytes { Data($0) })
    }
}
