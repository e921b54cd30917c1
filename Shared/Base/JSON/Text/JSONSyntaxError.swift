/// A syntax error (RFC 8259) with its position.
package struct JSONSyntaxError: Error, Hashable, Sendable {
    package enum Problem: Hashable, Sendable {
        case expectedValue, expectedEnd
        case expectedName, expectedColon, expectedCommaOrBrace, expectedCommaOrBracket
        case unclosedText, controlCharacter, unknownEscape, expectedHexadecimalDigits, halfOfSurrogatePair
        case leadingZero, expectedDigit, numberDoesNotFit
        case tooDeep(Int)
        case byteOrderMark, otherEncoding, notUTF8
        /// An object has a repeated name. The node is the second name.
        case repeatedName(node: Int)
    }

    package let problem: Problem
    /// The position in bytes from the start.
    package let position: Int
}

extension JSONSyntaxError: CustomStringConvertible {
    /// Gives the position in bytes, where ``description(in:)`` gives lines.
    package var description: String { "\(problem) at byte \(position)" }

    /// One sentence for the sender with the expectation and the position. Positions are bytes from 0. For a document of several
    /// lines they include the line and the character in it, both from 1.
    func description(in bytes: UnsafeRawBufferPointer) -> String {
        let words: String
        switch problem {
        case .byteOrderMark: return "not valid JSON: it begins with a byte order mark"
        case .otherEncoding: return "not valid JSON: expected UTF-8, found what looks like UTF-16 or UTF-32"
        case .notUTF8: return "not valid JSON: it is not UTF-8"
        case .repeatedName: return "there twice, expected at most once"
        case .expectedValue: words = "expected a value"
        case .expectedEnd: words = "expected the end"
        case .expectedName: words = "expected a field's name in double quotes"
        case .expectedColon: words = "expected a colon"
        case .expectedCommaOrBrace: words = "expected a comma or }"
        case .expectedCommaOrBracket: words = "expected a comma or ]"
        case .unclosedText: words = "expected a double quote"
        case .controlCharacter: words = "expected no control character in a text"
        case .unknownEscape: words = "expected an escape of JSON's"
        case .expectedHexadecimalDigits: words = "expected four hexadecimal digits"
        case .halfOfSurrogatePair: words = "expected a surrogate pair"
        case .leadingZero: words = "expected a number without leading zeros"
        case .expectedDigit: words = "expected a digit"
        case .numberDoesNotFit: words = "expected a number that fits 64 bits"
        case .tooDeep(let most): words = "expected at most \(most) levels"
        }
        return "not valid JSON: \(words) \(place(in: bytes))"
    }

    private func place(in bytes: UnsafeRawBufferPointer) -> String {
        guard position < bytes.count else { return "at the end of the text" }
        let before = bytes[..<position]
        let lineFeed = UInt8(ascii: "\n")
        guard let lineEnd = before.lastIndex(of: lineFeed) else { return "at byte \(position)" }
        let line = before.count { $0 == lineFeed } + 1
        let column = String(decoding: before[(lineEnd + 1)...], as: UTF8.self).unicodeScalars.count + 1
        return "at byte \(position) (line \(line), column \(column))"
    }
}
