import JSON

/// An account's name: 1 to ``maxLength`` characters of `A–Z a–z 0–9 . _ - @`. Two names that differ only in case are equal.
///
/// The name identifies the account for ever: it is the `actor` of a request and the `sender` of a message, so that it is never used
/// for another account.
package struct AccountName: Sendable {
    package static let maxLength = 64

    /// As the account's creator wrote it.
    private let text: String
    /// In lower case: equal for equal names.
    package let key: String

    package init?(_ description: String) {
        guard (1...Self.maxLength).contains(description.utf8.count), description.utf8.allSatisfy(Self.isAllowed) else {
            return nil
        }
        text = description
        key = description.lowercased()
    }

    /// Whether a new account may have it. In a path, `.` and `..` stand for folders, so that no request could name the account.
    package var mayBeNew: Bool { text != "." && text != ".." }

    /// Checks the name of a new account.
    func checkNew(_ field: some CodingKey) throws(SchemaViolation) {
        guard mayBeNew else { throw SchemaViolation(field, "expected a name other than . and ..") }
    }

    private static func isAllowed(_ character: UInt8) -> Bool {
        switch character {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "@"):
            true
        default: false
        }
    }
}

extension AccountName: Hashable {
    package static func == (one: AccountName, other: AccountName) -> Bool { one.key == other.key }

    package func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

extension AccountName: TextCodable {
    package var description: String { text }

    package static var expected: String { "1 to \(maxLength) characters of A–Z a–z 0–9 . _ - @ (an account's name)" }
    package static var pattern: String {
        "^([A-Za-z0-9_@-][A-Za-z0-9._@-]{0,63}|\\.[A-Za-z0-9_@-][A-Za-z0-9._@-]{0,62}|\\.\\.[A-Za-z0-9._@-]{1,62})$"
    }
    package static var example: String { "ann" }
}
