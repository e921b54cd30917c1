package import Base

/// The maximum length of a text in characters, whether it may be blank, and which characters it may have.
///
/// A character is a Unicode scalar, as in the seed's VARCHAR columns, Python's `len` and most portals. With grapheme clusters a
/// single character could be megabytes long.
package struct TextLimits: Hashable, Sendable {
    /// The maximum number of characters.
    package let max: Int
    /// Whether the text may be empty, or without a visible character.
    package let mayBeBlank: Bool
    /// The valid characters.
    package let characters: TextCharacters

    package init(max: Int, mayBeBlank: Bool = false, _ characters: TextCharacters = .any) {
        self.max = max
        self.mayBeBlank = mayBeBlank
        self.characters = characters
    }

    /// A text of ASCII letters, digits, and some other ASCII characters.
    package init(max: Int, lettersDigitsAnd punctuation: String) {
        self.init(max: max, .lettersDigits(and: punctuation))
    }

    /// The limits of a text that an earlier version has stored: only its length is checked, and whether it is white space.
    package var stored: TextLimits { TextLimits(max: max, mayBeBlank: mayBeBlank) }

    /// Describes what is wrong with a text; `nil` if it is valid.
    package func problem(with text: String) -> String? {
        if !mayBeBlank, characters == .any ? text.isBlank : text.isInvisible {
            return "expected a text that is not empty"
        }
        // A scalar takes one to four bytes, so most texts need no counting.
        if text.utf8.count > max, case let count = text.unicodeScalars.count, count > max {
            return "expected at most \(max) characters, found \(count)"
        }
        return characters.problem(with: text)
    }

    /// Checks an optional text.
    ///
    /// - Throws: A violation that names the field.
    package func check(_ text: String?, _ field: some CodingKey) throws(SchemaViolation) {
        if let text, let problem = problem(with: text) { throw SchemaViolation(field, problem, limit: limit) }
    }
}

extension TextLimits {
    /// The limits for JSON Schema.
    package var limit: FieldLimit {
        FieldLimit(
            keywords: [
                "minLength": mayBeBlank ? 0 : 1, "maxLength": .integer(max),
                "pattern": .string(characters.pattern(mayBeBlank: mayBeBlank)),
            ],
            example: "x")
    }
}

extension TextLimits {
    /// A channel's, area's or subject's name.
    package static let name = TextLimits(max: 200, .name)
    /// A channel's, area's or subject's description.
    package static let description = TextLimits(max: 2_000, mayBeBlank: true, .text)
    /// A message's title: the phone's column is VARCHAR(500) (seed, "Table Creation SQL").
    package static let title = TextLimits(max: 500, .line)
    /// A message's push notification body: VARCHAR(500).
    package static let notificationBody = TextLimits(max: 500, mayBeBlank: true, .text)
    /// A message's text: VARCHAR(1500).
    package static let messageText = TextLimits(max: 1_500, .text)
    /// Why a message is recalled.
    package static let reason = TextLimits(max: 500, .text)
    /// An account's name: the sender of a message, the actor of a request.
    package static let sender = TextLimits(max: 200)
    /// The network address of a client.
    package static let address = TextLimits(max: 64)
    /// A client's key for one POST and its retries.
    package static let idempotencyKey = TextLimits(max: 255)
}
