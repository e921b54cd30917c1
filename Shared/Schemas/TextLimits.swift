#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif
package import JSON

/// The maximum length of a text in characters, and whether it may be blank.
///
/// A character is a Unicode scalar, as in the seed's VARCHAR columns, Python's `len` and most portals. With grapheme clusters a
/// single character could be megabytes long.
package struct TextLimits: Hashable, Sendable {
    /// The maximum number of characters.
    package let max: Int
    /// Whether the text may be empty or only white space.
    package let mayBeBlank: Bool
    /// The valid characters beside ASCII letters and digits; `nil` if all characters are valid.
    package let punctuation: String?

    package init(max: Int, mayBeBlank: Bool = false) {
        self.max = max
        self.mayBeBlank = mayBeBlank
        punctuation = nil
    }

    /// A text of ASCII letters, digits, and some other ASCII characters.
    package init(max: Int, lettersDigitsAnd punctuation: String) {
        self.max = max
        mayBeBlank = false
        self.punctuation = punctuation
    }

    /// The problem of a text, or `nil`.
    package func problem(with text: String) -> String? {
        if !mayBeBlank, text.isBlank {
            return "expected a text that is not empty"
        }
        // A scalar takes one to four bytes, so most texts need no counting.
        if text.utf8.count > max, case let count = text.unicodeScalars.count, count > max {
            return "expected at most \(max) characters, found \(count)"
        }
        if let punctuation {
            let isValid = text.utf8.allSatisfy { $0.isASCIILetterOrDigit || punctuation.utf8.contains($0) }
            return isValid ? nil : "expected only ASCII letters, digits and \(punctuation)"
        }
        if text.containsZero { return "expected a text without the character U+0000" }
        return nil
    }

    /// Checks an optional text.
    ///
    /// - Throws: A violation that names the field.
    package func check(_ text: String?, _ field: some CodingKey) throws(SchemaViolation) {
        if let text, let problem = problem(with: text) { throw SchemaViolation(field, problem, limit: limit) }
    }
}

extension TextLimits {
    /// A pattern of texts that are not blank.
    package static let notBlankPattern = #"^[^\x00]*[^\s\x00][^\x00]*$"#

    /// The limits for JSON Schema.
    package var limit: FieldLimit {
        let pattern =
            if let punctuation {
                // In a character class a hyphen at the end stands for itself.
                "^[A-Za-z0-9\(punctuation.filter { $0 != "-" })\(punctuation.contains("-") ? "-" : "")]*$"
            } else if mayBeBlank {
                #"^[^\x00]*$"#
            } else {
                Self.notBlankPattern
            }
        return FieldLimit(
            keywords: [
                "minLength": mayBeBlank ? 0 : 1, "maxLength": .integer(max), "pattern": .string(pattern),
            ],
            example: "x")
    }
}

extension UInt8 {
    fileprivate var isASCIILetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}

extension String {
    /// Whether it is empty or only white space.
    var isBlank: Bool {
        // Fast path: the first character is nearly always a visible ASCII character.
        if let first = utf8.first, (0x21...0x7E).contains(first) { return false }
        return unicodeScalars.allSatisfy(\.properties.isWhitespace)
    }

    fileprivate var containsZero: Bool {
        // The C library looks at many bytes at once.
        utf8.withContiguousStorageIfAvailable { utf8 in
            utf8.baseAddress.map { memchr($0, 0, utf8.count) != nil } ?? false
        } ?? utf8.contains(0)
    }
}

extension TextLimits {
    /// A channel's, area's or subject's name.
    package static let name = TextLimits(max: 200)
    /// A channel's, area's or subject's description.
    package static let description = TextLimits(max: 2_000, mayBeBlank: true)
    /// A message's title: the phone's column is VARCHAR(500) (seed, "Table Creation SQL").
    package static let title = TextLimits(max: 500)
    /// A message's push notification body: VARCHAR(500).
    package static let notificationBody = TextLimits(max: 500, mayBeBlank: true)
    /// A message's text: VARCHAR(1500).
    package static let messageText = TextLimits(max: 1_500)
    /// An account's name: the sender of a message, the actor of a request.
    package static let sender = TextLimits(max: 200)
    /// The network address of a client.
    package static let address = TextLimits(max: 64)
    /// A client's key for one POST and its retries.
    package static let idempotencyKey = TextLimits(max: 255)
}
