import Crypto
import FCM
import FoundationEssentials
import Base
import Schemas

/// Issues and checks access tokens. A token holds its expiry, a nonce and its scope, and is signed with a key on disk. So it
/// survives a restart of the emulator without being stored.
struct AccessTokens: Sendable {
    private static let keyFile = "access-token.key"
    private static let prefix = "ya29.emulator."

    private let key: SymmetricKey

    /// Reads the signing key, or creates one on the first start.
    ///
    /// - Throws: ``StateFileError``.
    init(in folder: StateFolder) throws {
        if let stored = try folder.read(Self.keyFile) {
            guard stored.count == 32 else {
                throw StateFileError.damaged(folder.path(of: Self.keyFile), "expected 32 bytes, found \(stored.count)")
            }
            key = SymmetricKey(data: stored)
        } else {
            key = SymmetricKey(size: .bits256)
            try folder.write(key.withUnsafeBytes { Array($0) }, to: Self.keyFile, mode: 0o600)
        }
    }

    /// Issues a token that is valid from now on.
    ///
    /// - Parameters:
    ///   - life: The token's lifetime.
    ///   - isForMessaging: Whether its scopes include one that FCM requires.
    func issue(now: UnixMilliseconds, life: Seconds, isForMessaging: Bool) -> String {
        let expires = UInt64(max(0, now.rawValue)) + UInt64(Milliseconds(life).rawValue)
        var content = Data()
        withUnsafeBytes(of: expires.bigEndian) { content.append(contentsOf: $0) }
        withUnsafeBytes(of: UInt64.random(in: .min ... .max)) { content.append(contentsOf: $0) }
        content.append(isForMessaging ? 1 : 0)
        content.append(contentsOf: HMAC<SHA256>.authenticationCode(for: content, using: key))
        return Self.prefix + content.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
    }

    /// Checks a token's signature, expiry and scope.
    func check(_ token: String, now: UnixMilliseconds) -> Verdict {
        guard token.hasPrefix(Self.prefix),
            let content = Data(
                base64Encoded: String(token.dropFirst(Self.prefix.count)).replacing("-", with: "+").replacing("_", with: "/")),
            content.count == 49,
            HMAC<SHA256>.isValidAuthenticationCode(content.suffix(32), authenticating: content.prefix(17), using: key)
        else { return .unknown }
        let expires = content.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard expires > UInt64(max(0, now.rawValue)) else { return .expired }
        return content.dropFirst(16).first == 1 ? .valid : .ofAnotherScope
    }

    enum Verdict: Hashable {
        case valid, expired, unknown, ofAnotherScope
    }
}

/// The lifetime of access tokens, and Google's clock.
struct OAuthRules: Hashable, Sendable {
    let tokenLife: Seconds
    /// How far Google's clock is ahead of the machine's. A negative value means behind.
    let clockOffset: Seconds

    /// The time on Google's clock.
    func now() -> UnixMilliseconds { .now() + Milliseconds(clockOffset) }
}

extension OAuthRules: ControlSection {
    /// In seconds.
    private static let year = 31_536_000

    static let form = FCMForm("emulator.OAuth", ["token_life_s": .int32, "clock_offset_s": .int32])

    init(_ fields: ControlFields) throws {
        // Google answers 3,599: an hour, less the second that the answer took.
        tokenLife = try fields.seconds("token_life_s", in: 1...Self.year) ?? 3_599
        clockOffset = try fields.seconds("clock_offset_s", in: -Self.year...Self.year) ?? 0
    }

    var document: JSONValue { ["token_life_s": .integer(tokenLife.rawValue), "clock_offset_s": .integer(clockOffset.rawValue)] }
}
