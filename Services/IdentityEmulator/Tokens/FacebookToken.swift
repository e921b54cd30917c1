import Base
import Crypto
import FoundationEssentials
import ServiceKit

/// An access token of Facebook. Facebook's are references to what it has stored; these contain it, sealed by a code, so that they count
/// after a restart.
struct FacebookToken: Sendable {
    private static let prefix = "EAA"
    /// Not a secret either. It only tells tokens of the emulator from other texts.
    private static let key = SymmetricKey(data: Data(IdentityEmulatorAccess.appSecret.utf8))

    /// What `debug_token` answers.
    let data: JSONValue
    let text: String

    init(_ data: JSONValue) {
        self.data = data
        // Two tokens with the same data differ.
        let content = Data((0..<8).map { _ in UInt8.random(in: 0...255) }) + data.data
        text = Self.prefix + (Self.code(of: content) + content).base64URL
    }

    /// - Returns: `nil` for a text that is no token of the emulator.
    init?(_ text: String) {
        guard text.hasPrefix(Self.prefix), let bytes = Data(base64URL: text.dropFirst(Self.prefix.count)), bytes.count > 40,
            case let content = Data(bytes.dropFirst(32)), Self.code(of: content) == bytes.prefix(32),
            let data = try? JSONValue(parsing: content.dropFirst(8))
        else { return nil }
        self.data = data
        self.text = text
    }

    private static func code(of content: Data) -> Data {
        Data(HMAC<SHA256>.authenticationCode(for: content, using: key))
    }

    /// The proof that a server with the app's secret has sent the token: `appsecret_proof`.
    var proof: String {
        HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: Self.key).hexadecimal
    }
}
