import Crypto
import FoundationEssentials
import Schemas

/// Codes that replace the authenticator app's, each once: eight bytes in Base32, written `ABCDE-FGHIJ-KLM`.
enum RecoveryCodes {
    static let count = 10
    private static let bytes = 8

    static func make() -> [Secret] {
        (0..<count).map { _ in
            let digits = Array(Base32.encode(Data.random(count: bytes)))
            let groups = stride(from: 0, to: digits.count, by: 5).map { String(digits[$0..<min($0 + 5, digits.count)]) }
            return Secret(groups.joined(separator: "-"))
        }
    }

    /// The hash that is stored. The codes have 64 random bits, so that a fast hash is enough. It is the same in lower case, with
    /// spaces, and without hyphens.
    static func hash(_ code: Secret) -> CredentialHash {
        CredentialHash(digest: SHA256.hash(data: Data(code.codeDigits.uppercased().utf8)))
    }
}
