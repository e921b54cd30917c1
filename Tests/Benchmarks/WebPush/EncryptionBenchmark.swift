import Base
import Crypto
import FoundationEssentials
import Schemas
import TestSupport

/// The encryption of pushes on one thread, compared with OpenSSL's libcrypto doing the same.
struct EncryptionBenchmark {
    let scale: Scale
    let peers: String

    private var rounds: Int { scale.pick(5, smoke: 1) }
    private var messages: Int { scale.pick(20_000, smoke: 20) }
    private var browserCount: Int { scale.pick(1_000, smoke: 3) }

    private struct Figures: Encodable {
        let benchmark = "webpush-encryption"
        /// Messages a second.
        let product: Double
        let openSSL: Double
        let ratio: Double
        /// Microseconds for each message.
        let productTime: Double
        let openSSLTime: Double
        /// The length of a text, in bytes.
        let textLength: Int
    }

    func run() async throws {
        let browsers = (0..<browserCount).map { _ in SampleSubscriptions.Browser() }
        let keys = try browsers.map { try $0.keys }
        let text = SamplePayload.data
        say("encrypted messages of \(text.count) bytes a second, on one thread (median of \(rounds) runs, in turns)")
        say(Table.row("product", "OpenSSL", "ratio"))
        let figures = try await withTemporaryFolder { folder in
            let peer = try Peers(browsers, text: text, peers: peers, folder: folder)
            // Both have used each algorithm before the measurement.
            _ = try encrypt(text, to: keys, messages: min(messages, 500))
            var (product, openSSL): ([Double], [Double]) = ([], [])
            for _ in 0..<rounds {
                product.append(try encrypt(text, to: keys, messages: messages))
                openSSL.append(try await peer.encrypt(messages))
                let (rate, peerRate) = (product[product.count - 1], openSSL[openSSL.count - 1])
                say(Table.row("\(Int(rate))", "\(Int(peerRate))", "\((rate / peerRate).twoDigits)"))
            }
            let (rate, peerRate) = (product.median, openSSL.median)
            return Figures(
                product: rate.rounded(), openSSL: peerRate.rounded(), ratio: (rate / peerRate).twoDigits,
                productTime: (1e6 / rate).twoDigits, openSSLTime: (1e6 / peerRate).twoDigits, textLength: text.count)
        }
        say(String(decoding: try JSONCoder.encode(figures), as: UTF8.self))
    }

    /// Encrypts with the product's code, which is synchronous: so it stays on one thread.
    ///
    /// - Returns: Messages a second.
    private func encrypt(_ text: Data, to keys: [BrowserKeys], messages: Int) throws -> Double {
        let begin = ContinuousClock.now
        var length = 0
        for number in 0..<messages { length += try PushEncryption.encrypt(text, to: keys[number % keys.count]).count }
        let seconds = (ContinuousClock.now - begin) / .seconds(1)
        guard length == messages * (text.count + EncryptedPush.overhead) else {
            throw PeerFailure(description: "\(messages) encrypted messages have \(length) bytes")
        }
        return Double(messages) / seconds
    }

    /// The C program, whose last message is read as its browser reads it.
    private struct Peers {
        private let browsers: [SampleSubscriptions.Browser]
        private let text: Data
        private let program: Peer
        private let folder: String

        init(_ browsers: [SampleSubscriptions.Browser], text: Data, peers: String, folder: String) throws {
            (self.browsers, self.text, self.folder) = (browsers, text, folder)
            program = Peer(path: peers + "/raw_webpush")
            let lines = browsers.map { "\($0.key.publicKey.x963Representation.hex) \($0.auth.hex)\n" }
            try Data(lines.joined().utf8).write(to: URL(filePath: folder + "/keys"))
            try text.write(to: URL(filePath: folder + "/text"))
        }

        /// - Returns: Messages a second.
        func encrypt(_ messages: Int) async throws -> Double {
            let body = folder + "/body"
            let result = try await program.run([folder + "/keys", folder + "/text", "\(messages)", body])
            let last = browsers[(messages - 1) % browsers.count]
            let read = try EncryptedPush.read(Data(contentsOf: URL(filePath: body)), by: last)
            guard read == text else { throw PeerFailure(description: "raw_webpush encrypted another text") }
            return result.count / result.seconds
        }
    }
}

/// The body of a push (RFC 8188, RFC 8291).
enum EncryptedPush {
    /// How much longer it is than its text: the header, the delimiter and the tag.
    static let overhead = headerLength + 1 + tagLength

    private static let saltLength = 16
    private static let headerLength = saltLength + 4 + 1 + BrowserKeys.pointLength
    private static let tagLength = 16

    /// Decrypts it (RFC 8291, section 3.4).
    static func read(_ body: Data, by browser: SampleSubscriptions.Browser) throws -> Data {
        let bytes = Array(body)
        guard bytes.count > overhead else { throw PeerFailure(description: "a push of \(bytes.count) bytes") }
        let salt = Data(bytes[..<saltLength])
        let senderPoint = Data(bytes[(saltLength + 5)..<headerLength])
        let sender = try P256.KeyAgreement.PublicKey(x963Representation: senderPoint)
        let info = Data("WebPush: info\0".utf8) + browser.key.publicKey.x963Representation + senderPoint
        let inputKey = try browser.key.sharedSecretFromKeyAgreement(with: sender).hkdfDerivedSymmetricKey(
            using: SHA256.self, salt: browser.auth, sharedInfo: info, outputByteCount: 32)
        func derive(_ what: String, _ count: Int) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: inputKey, salt: salt, info: Data("Content-Encoding: \(what)\0".utf8), outputByteCount: count)
        }
        let nonce = try AES.GCM.Nonce(data: derive("nonce", 12).withUnsafeBytes { Data($0) })
        let box = try AES.GCM.SealedBox(
            nonce: nonce, ciphertext: Data(bytes[headerLength...].dropLast(tagLength)), tag: Data(bytes.suffix(tagLength)))
        return try AES.GCM.open(box, using: derive("aes128gcm", 16)).dropLast()
    }
}

extension Data {
    fileprivate var hex: String {
        map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
