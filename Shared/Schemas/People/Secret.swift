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

    /// Whether it is ``prepared``. Strings are equal in any normal form, so the bytes decide.
    package var isPrepared: Bool { text.utf8.elementsEqual(prepared.text.utf8) }

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
