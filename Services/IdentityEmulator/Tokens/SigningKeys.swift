import Base
import CryptoExtras
import FoundationEssentials

/// An RSA key of a provider.
struct SigningKey: Sendable {
    /// The `kid` of its tokens.
    let id: String
    let key: _RSA.Signing.PrivateKey

    /// It as an element of a set of public keys (RFC 7517).
    var publicDocument: JSONValue {
        get throws {
            let numbers = try key.publicKey.getKeyPrimitives()
            return [
                "kty": "RSA", "alg": "RS256", "use": "sig", "kid": .string(id), "n": .string(numbers.modulus.base64URL),
                "e": .string(numbers.publicExponent.base64URL),
            ]
        }
    }
}

/// The keys that sign the tokens of Google and Firebase. A key is made when it is first needed, because that takes a tenth of a second, and
/// kept in a file: tokens count after a restart.
actor SigningKeys {
    /// Which of a provider's keys signs a token.
    enum Kind: String, ClosedEnum {
        /// The published one.
        case current
        /// The one that was published before the last rotation. Before the first rotation it is one that never was.
        case withdrawn
        /// One that is never published.
        case unknown
    }

    private struct StoredKey: Codable {
        let id: String
        let pem: String
    }

    private let file: String
    /// By the names of provider and kind, such as `google.current`.
    private var keys: [String: SigningKey] = [:]

    /// - Throws: ``StateFileError``.
    init(file: String) throws {
        self.file = file
        guard FileManager.default.fileExists(atPath: file) else { return }
        do {
            let data = FileManager.default.contents(atPath: file) ?? Data()
            keys = try JSONCoder.decode([String: StoredKey].self, from: data).mapValues {
                SigningKey(id: $0.id, key: try _RSA.Signing.PrivateKey(pemRepresentation: $0.pem))
            }
        } catch {
            throw StateFileError(path: file, problem: "it holds no keys as this program writes them")
        }
    }

    /// - Throws: An error of the cryptography, or `DurableFileFailure` if the file cannot be written.
    func key(_ kind: Kind, of provider: Provider) throws -> SigningKey {
        if let key = keys[Self.name(kind, provider)] { return key }
        return try keep([Self.name(kind, provider): try Self.newKey()], kind, provider)
    }

    /// Withdraws the published key, and publishes a new one.
    func rotate(_ provider: Provider) throws -> SigningKey {
        let withdrawn = try key(.current, of: provider)
        return try keep(
            [Self.name(.withdrawn, provider): withdrawn, Self.name(.current, provider): try Self.newKey()], .current, provider)
    }

    /// Stores keys.
    ///
    /// - Returns: The one of a kind.
    private func keep(_ new: [String: SigningKey], _ kind: Kind, _ provider: Provider) throws -> SigningKey {
        let changed = keys.merging(new) { $1 }
        let stored = changed.mapValues { StoredKey(id: $0.id, pem: $0.key.pkcs8PEMRepresentation) }
        try DurableFiles.replace(file, String(decoding: try JSONCoder.encode(stored), as: UTF8.self))
        keys = changed
        return try key(kind, of: provider)
    }

    private static func name(_ kind: Kind, _ provider: Provider) -> String { "\(provider.rawValue).\(kind.rawValue)" }

    /// The identifier has the form of Google's: 40 hexadecimal digits.
    private static func newKey() throws -> SigningKey {
        let id = (0..<20).map { _ in UInt8.random(in: 0...255) }.hexadecimal
        return SigningKey(id: id, key: try _RSA.Signing.PrivateKey(keySize: .bits2048))
    }
}
