import Crypto
import FoundationEssentials
import Base
import Schemas
import WebPushKeys

@testable import WebPush

/// A browser with a subscription: it has the keys, and reads what it gets.
struct Browser: Sendable {
    let key: P256.KeyAgreement.PrivateKey
    let auth: Data

    init(
        key: P256.KeyAgreement.PrivateKey = .init(compactRepresentable: false),
        auth: Data = Data((0..<16).map { _ in UInt8.random(in: 1...255) })
    ) {
        self.key = key
        self.auth = auth
    }

    var p256dh: String { key.publicKey.x963Representation.base64URL }

    var keys: BrowserKeys {
        get throws { try BrowserKeys(p256dh: p256dh, auth: Secret(auth.base64URL)) }
    }

    /// The command that its app sends.
    func subscription(
        at endpoint: String = "https://updates.push.services.mozilla.com/wpush/v2/\(ObjectID())", alerts: [TopicKey] = [],
        information: [TopicKey] = [], language: String? = nil, app: String? = "https://hub.example.edu/app/"
    ) -> AddSubscription {
        AddSubscription(
            endpoint: Secret(endpoint), p256dh: p256dh, auth: Secret(auth.base64URL),
            subjects: SubscribedSubjects(alerts: alerts, information: information), language: language, app: app)
    }

    /// Decrypts the body of a push (RFC 8291, section 3.4).
    func read(_ body: Data) throws -> Data {
        let bytes = Array(body)
        struct Malformed: Error {}
        guard bytes.count > 86, bytes[16..<20].elementsEqual([0, 0, 16, 0]), bytes[20] == 65 else { throw Malformed() }
        let (salt, senderPoint, sealed) = (Data(bytes[..<16]), Data(bytes[21..<86]), bytes[86...])
        let sender = try P256.KeyAgreement.PublicKey(x963Representation: senderPoint)
        let info = Data("WebPush: info\0".utf8) + key.publicKey.x963Representation + senderPoint
        let inputKey = try key.sharedSecretFromKeyAgreement(with: sender).hkdfDerivedSymmetricKey(
            using: SHA256.self, salt: auth, sharedInfo: info, outputByteCount: 32)
        func derive(_ what: String, _ count: Int) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: inputKey, salt: salt, info: Data("Content-Encoding: \(what)\0".utf8), outputByteCount: count)
        }
        let nonce = try AES.GCM.Nonce(data: derive("nonce", 12).withUnsafeBytes { Data($0) })
        let box = try AES.GCM.SealedBox(nonce: nonce, ciphertext: Data(sealed.dropLast(16)), tag: Data(sealed.suffix(16)))
        let record = try AES.GCM.open(box, using: derive("aes128gcm", 16))
        guard record.last == 2 else { throw Malformed() }
        return record.dropLast()
    }

    /// The payload of a push.
    func payload(_ request: WebPushRequest) throws -> JSONValue { try JSONValue(parsing: read(request.body)) }
}
