import FoundationEssentials

/// A password, a code, a token or another secret text. In JSON it is a string. Printed, logged or reflected it is `…`.
package struct Secret: Hashable, Sendable {
    package let text: String

    package init(_ text: String) {
        self.text = text
    }
}

extension Secret {
    /// A password as it is compared, by the profile OpaqueString of RFC 8265: in normal form C, with U+0020 for every space.
    package var prepared: Secret {
        let scalars = text.unicodeScalars.map { $0.properties.generalCategory == .spaceSeparator ? " " : $0 }
        return Secret(String(String.UnicodeScalarView(scalars)).composed)
    }

    /// The digits and letters of a code as people write them: with the digits of their script, spaces and hyphens.
    package var codeDigits: String { text.searchFolded.filter { $0.isLetter || $0.isNumber } }
}

extension Secret: Codable {
    package init(from decoder: any Decoder) throws {
        text = try decoder.singleValueContainer().decode(String.self)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "…" }
    package var debugDescription: String { "…" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension Secret {
    /// A new bearer token. Programs that search for leaked secrets recognise it by its prefix.
    package static func newToken() -> Secret { Secret("msi_" + randomText()) }

    /// The value of a new sign-in's cookie.
    package static func newSignIn() -> Secret { Secret(randomText()) }

    /// A new invitation of an account: its name, a dot and a random text.
    package static func newInvitation(of account: AccountName) -> Secret { Secret("\(account)." + randomText()) }

    /// The account that an invitation names; empty if it names none.
    package var invitedAccount: String { text.lastIndex(of: ".").map { String(text[..<$0]) } ?? "" }

    /// 32 random bytes in URL-safe Base64 without padding: 43 characters.
    private static func randomText() -> String {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        return Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
