import Crypto
import FoundationEssentials
import Schemas

/// Time-based one-time passwords (RFC 6238): six digits of HMAC-SHA-1 for each half minute, as all authenticator apps make them.
struct TOTP: Sendable {
    /// The seconds for which a code is valid.
    static let period: Int64 = 30
    static let digits = 6
    /// The steps before and after the current one whose codes are accepted, for clocks that differ.
    static let tolerance: Int64 = 1

    let key: SymmetricKey

    /// - Parameter secret: In Base32.
    init?(secret: Secret) {
        guard let bytes = Base32.decode(secret.text), !bytes.isEmpty else { return nil }
        key = SymmetricKey(data: bytes)
    }

    /// A new secret in Base32, of the length that RFC 4226 recommends.
    static func makeSecret() -> Secret { Secret(Base32.encode(Data.random(count: 20))) }

    /// The address that an authenticator app reads from a QR code.
    ///
    /// - Parameter account: Its characters need no escapes except `@`, which the path may contain.
    static func uri(of secret: Secret, account: AccountName) -> Secret {
        Secret("otpauth://totp/MSI:\(account)?secret=\(secret.text)&issuer=MSI")
    }

    static func step(at time: UnixMilliseconds) -> Int64 { time.seconds / period }

    /// - Parameter digits: 1 to 8.
    func code(step: Int64, digits: Int = digits) -> String {
        var counter = UInt64(bitPattern: step).bigEndian
        let message = withUnsafeBytes(of: &counter) { Data($0) }
        let mac = Array(HMAC<Insecure.SHA1>.authenticationCode(for: message, using: key))
        let offset = Int(mac[19] & 0xF)
        let number = mac[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } & 0x7FFF_FFFF
        let text = String(number)
        return String((String(repeating: "0", count: digits) + text).suffix(digits))
    }

    /// The time step of a valid code.
    ///
    /// - Parameter last: The step of the last accepted code: codes of it and of earlier steps are invalid, so that a code
    ///   works once.
    func step(of code: String, at time: UnixMilliseconds, after last: Int64?) -> Int64? {
        let current = Self.step(at: time)
        return (current - Self.tolerance...current + Self.tolerance).first { step in
            step > last ?? .min && self.code(step: step) == code
        }
    }
}

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

/// Base32 (RFC 4648) without padding, the form in which authenticator apps take a secret.
enum Base32 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

    static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var digits: [UInt8] = []
        var bits = 0
        var count = 0
        for byte in bytes {
            bits = bits << 8 | Int(byte)
            count += 8
            while count >= 5 {
                count -= 5
                digits.append(alphabet[bits >> count & 31])
            }
            bits &= (1 << count) - 1
        }
        if count > 0 { digits.append(alphabet[bits << (5 - count) & 31]) }
        return String(decoding: digits, as: UTF8.self)
    }

    /// - Returns: `nil` for another text.
    static func decode(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var bits = 0
        var count = 0
        for digit in text.utf8 {
            guard let value = alphabet.firstIndex(of: digit) else { return nil }
            bits = bits << 5 | value
            count += 5
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> count))
                bits &= (1 << count) - 1
            }
        }
        return bytes
    }
}
