import Crypto
import CryptoExtras
import FoundationEssentials
import Schemas

/// A stored password: its scrypt hash (RFC 7914) with the parameters that made it.
struct PasswordHash: Codable, Hashable, Sendable {
    struct Parameters: Codable, Hashable, Sendable {
        /// N, the cost in time and memory: a power of two.
        let cost: Int
        /// r, the size of a block.
        let blockSize: Int
        /// p, the number of passes.
        let parallelism: Int

        /// For new passwords: 32 MiB and about a tenth of a second.
        static let current = Parameters(cost: 1 << 15, blockSize: 8, parallelism: 1)

        private enum CodingKeys: String, CodingKey {
            case cost = "n"
            case blockSize = "r"
            case parallelism = "p"
        }
    }

    let parameters: Parameters
    /// In Base64.
    private let salt: String
    /// In Base64.
    private let hash: String

    private enum CodingKeys: String, CodingKey {
        case parameters = "scrypt"
        case salt, hash
    }

    private static let saltBytes = 16
    private static let hashBytes = 32

    /// Hashes a new password. It takes long and blocks: see ``PasswordHashing``.
    init(of password: Secret, parameters: Parameters) throws {
        let salt = Data.random(count: Self.saltBytes)
        let key = try Self.key(of: Data(password.prepared.text.utf8), salt: salt, parameters)
        self.init(parameters: parameters, salt: salt, hash: key.withUnsafeBytes { Data($0) })
    }

    /// Whether it is the hash of this password. It takes as long as hashing, whether it is right or wrong.
    func matches(_ password: Secret) throws -> Bool {
        guard let salt = Data(base64Encoded: salt), let hash = Data(base64Encoded: hash) else { throw DamagedPasswordHash() }
        // The comparison of keys takes the same time wherever they differ.
        return try Self.key(of: Data(password.prepared.text.utf8), salt: salt, parameters) == SymmetricKey(data: hash)
    }

    private static func key(of password: Data, salt: Data, _ parameters: Parameters) throws -> SymmetricKey {
        try KDF.Scrypt.deriveKey(
            from: password, salt: salt, outputByteCount: hashBytes, rounds: parameters.cost,
            blockSize: parameters.blockSize, parallelism: parameters.parallelism)
    }
}

extension PasswordHash {
    /// The hash of a password that is not known to anyone. It makes a wrong name cost as much as a wrong password.
    static func unknown(_ parameters: Parameters) -> PasswordHash {
        PasswordHash(parameters: parameters, salt: .random(count: saltBytes), hash: .random(count: hashBytes))
    }

    private init(parameters: Parameters, salt: Data, hash: Data) {
        self.parameters = parameters
        self.salt = salt.base64EncodedString()
        self.hash = hash.base64EncodedString()
    }
}

/// A stored hash or salt is not valid Base64.
struct DamagedPasswordHash: Error {}

extension Data {
    /// Random bytes of the system's generator.
    static func random(count: Int) -> Data {
        var generator = SystemRandomNumberGenerator()
        return Data((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }
}
