#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The characters that a text may have. U+0000 is in none: SQLite and C end a text with it.
package enum TextCharacters: Hashable, Sendable {
    /// All others: for what programs read.
    case any
    /// All others, for what people read in several lines. A text without a visible character is blank.
    case text
    /// As ``text``, in one line: without control characters, line and paragraph separators, and the characters that embed or override a
    /// direction (U+202A to U+202E), which change what is shown after the text.
    case line
    /// As ``line``, and without that with which two names look the same: invisible characters, and words of several alphabets. Joiners,
    /// variation selectors and tags are valid where they change what is shown: in emoji, and in scripts such as those of Persian and Hindi.
    case name
    /// ASCII letters, digits, and some other ASCII characters.
    case lettersDigits(and: String)

    /// The problem of a text, or `nil`.
    func problem(with text: String) -> String? {
        if case .lettersDigits(let punctuation) = self {
            let isValid = text.utf8.allSatisfy { $0.isASCIILetterOrDigit || punctuation.utf8.contains($0) }
            return isValid ? nil : "expected only ASCII letters, digits and \(punctuation)"
        }
        guard self == .line || self == .name else { return text.containsZero ? Self.problem(with: "\0") : nil }
        if self == .name, text == "." || text == ".." { return "expected a name other than . and .., folders of a path" }
        // Fast path: nearly every line is printable ASCII.
        if text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return nil }
        let scalars = Array(text.unicodeScalars)
        let found = scalars.indices.first { place in
            scalars[place].breaksLine || self == .name && scalars[place].isIgnorable && !scalars.showsIgnorable(at: place)
        }
        if let found { return Self.problem(with: scalars[found]) }
        guard self == .name, let letter = scalars.letterOfAnotherAlphabet else { return nil }
        return "expected words with letters of one alphabet each, found \(Self.code(of: letter)) beside letters of another one"
    }

    private static func problem(with scalar: Unicode.Scalar) -> String {
        "expected a text without the character \(code(of: scalar))"
    }

    /// As in `U+200B`.
    private static func code(of scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    /// A regular expression of ECMA-262 that the valid texts match, except for names of dots alone. It lets a joiner and a selector stand anywhere, takes the
    /// invisible characters beyond the first plane for visible ones, and takes words of several alphabets.
    package func pattern(mayBeBlank: Bool) -> String {
        if case .lettersDigits(let punctuation) = self {
            // In a character class a hyphen at the end stands for itself.
            return "^[A-Za-z0-9\(punctuation.filter { $0 != "-" })\(punctuation.contains("-") ? "-" : "")]*$"
        }
        let refused =
            switch self {
            case .any, .text: #"\x00"#
            case .line: Self.breaks
            default: Self.breaks + Self.ignorable
            }
        let ink = #"[^\s\u2800\u200c\u200d\ufe00-\ufe0f"# + Self.breaks + Self.ignorable + (self == .name ? ".]" : "]")
        let visible = self == .any ? #"[^\s\x00]"# : ink
        return "^[^\(refused)]*" + (mayBeBlank ? "$" : "\(visible)[^\(refused)]*$")
    }

    /// What ``line`` excludes, for a character class.
    private static let breaks = #"\x00-\x1f\x7f-\x9f\u2028-\u202e"#

    /// Invisible characters of the first plane without joiners and selectors, for a character class.
    private static let ignorable =
        #"\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb"#
}

extension Unicode.Scalar {
    /// Whether it moves the cursor, ends the line, or changes the direction of what follows the text.
    fileprivate var breaksLine: Bool {
        switch value {
        case 0..<0x20, 0x7F..<0xA0, 0x2028...0x202E: true
        default: false
        }
    }

    /// Whether it is invisible (Unicode's `Default_Ignorable_Code_Point`, and the annotation characters).
    package var isIgnorable: Bool {
        // Fast path: the first of them is U+00AD.
        value >= 0xAD && (properties.isDefaultIgnorableCodePoint || (0xFFF0...0xFFFB).contains(value))
    }

    /// Whether it has no ink: white space, a control character, an invisible one, or an empty braille pattern.
    fileprivate var isBlank: Bool {
        value < 0x21 || (0x7F..<0xA0).contains(value) || value == 0x2800 || isIgnorable || properties.isWhitespace
    }

    /// Whether it has forms that an invisible character chooses: a letter of a script without case, or an emoji.
    fileprivate var hasForms: Bool {
        properties.generalCategory == .otherLetter || properties.isEmoji && !isASCII
    }

    /// Whether it is a mark, such as a vowel sign or a skin tone.
    var isMark: Bool {
        [.nonspacingMark, .spacingMark].contains(properties.generalCategory)
    }
}

extension [Unicode.Scalar] {
    /// Whether the invisible character at a place changes what is shown.
    fileprivate func showsIgnorable(at place: Int) -> Bool {
        guard place > 0 else { return false }
        let (before, after) = (self[place - 1], place + 1 < count ? self[place + 1] : nil)
        return switch self[place].value {
        // A joiner: after a virama (RFC 5892, A.1), or between letters or emoji.
        case 0x200C, 0x200D:
            before.properties.canonicalCombiningClass == .virama
                || (before.hasForms || before.isMark) && after.map { $0.hasForms && !$0.isIgnorable } ?? false
        // A selector. With a digit it is the beginning of a keycap.
        case 0xFE00...0xFE0F, 0xE0100...0xE01EF, 0x180B...0x180D: before.hasForms || after?.value == 0x20E3
        // A tag, as in the flag of Scotland.
        case 0xE0020...0xE007F: before.hasForms || (0xE0020...0xE007F).contains(before.value)
        default: false
        }
    }
}

extension StringProtocol {
    /// Whether it has no visible character.
    package var isInvisible: Bool {
        // Fast path: the first character is nearly always a visible ASCII character.
        if let first = utf8.first, (0x21...0x7E).contains(first) { return false }
        return unicodeScalars.allSatisfy(\.isBlank)
    }

    /// Whether it is empty or only white space.
    package var isBlank: Bool {
        if let first = utf8.first, (0x21...0x7E).contains(first) { return false }
        return unicodeScalars.allSatisfy(\.properties.isWhitespace)
    }
}

extension String {
    /// The text without invisible characters that change nothing of what is shown, without white space around it, and with one space
    /// in the place of more: texts that look the same are the same.
    package var tidied: String {
        let scalars = Array(unicodeScalars)
        let shown = scalars.indices.filter { !scalars[$0].isIgnorable || scalars.showsIgnorable(at: $0) }.map { scalars[$0] }
        // What is still invisible belongs to a character that is shown.
        let words = shown.split { $0.isBlank && !$0.isIgnorable }
        return words.map { String(String.UnicodeScalarView($0)) }.joined(separator: " ")
    }

    fileprivate var containsZero: Bool {
        // The C library looks at many bytes at once.
        utf8.withContiguousStorageIfAvailable { utf8 in
            utf8.baseAddress.map { memchr($0, 0, utf8.count) != nil } ?? false
        } ?? utf8.contains(0)
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

/// The alphabets whose letters have the same forms: a Cyrillic `Т` looks like a Latin `T`. A name whose words have the letters of one
/// alphabet each cannot pass for another one by a single letter.
///
/// This looks at one name, as UTS 39's restriction to a single script does. Its skeletons find more, but compare two names, and names need
/// not be unique. Their data is in ICU alone: its module in the toolchain is not public, has 40 MB, and has other data with each version.
enum Alphabet: Hashable {
    case latin, greek, cyrillic

    /// The alphabet of a letter; `nil` for every other character.
    init?(_ scalar: Unicode.Scalar) {
        guard scalar.isLetter else { return nil }
        switch scalar.value {
        // The Greek and Cyrillic letters among the phonetic ones.
        case 0x1D26...0x1D2A, 0x1D5D...0x1D61, 0x1D66...0x1D6A: self = .greek
        case 0x1D2B, 0x1D78: self = .cyrillic
        // With the signs of kelvin and angstrom, which look like K and Å.
        case 0x41...0x7A, 0xC0...0x2AF, 0x1D00...0x1D7F, 0x1E00...0x1EFF, 0x212A...0x212B, 0x2C60...0x2C7F, 0xA722...0xA7FF,
            0xFF21...0xFF5A:
            self = .latin
        case 0x370...0x3FF, 0x1F00...0x1FFF, 0x2126: self = .greek
        case 0x400...0x52F, 0x1C80...0x1C8F, 0xA640...0xA69F: self = .cyrillic
        default: return nil
        }
    }

    /// Greek letters that are used as symbols beside Latin letters, as in `kΩ` and `ΔT`, and do not look like Latin ones.
    private static let symbols = Set("ΓΔΘΛΞΠΣΦΨΩ\u{2126}δεθλμπσφψ".unicodeScalars)

    /// A Cyrillic or Greek letter of a word that has letters of another alphabet as well; `nil` if there is none.
    fileprivate static func foreignLetter(in word: ArraySlice<Unicode.Scalar>) -> Unicode.Scalar? {
        guard Set(word.compactMap { Alphabet($0) }).count > 1 else { return nil }
        let greek = word.filter { Alphabet($0) == .greek }
        let cyrillic = word.first { Alphabet($0) == .cyrillic }
        if cyrillic == nil, greek.count == 1, symbols.contains(greek[0]) { return nil }
        return cyrillic ?? greek.first
    }
}

extension [Unicode.Scalar] {
    /// The first letter that shares a word with letters of another alphabet; `nil` if there is none. What is no letter, such as a hyphen,
    /// separates words.
    var letterOfAnotherAlphabet: Unicode.Scalar? {
        split { !$0.isLetter && !$0.isMark }.lazy.compactMap { Alphabet.foreignLetter(in: $0) }.first
    }
}

extension Unicode.Scalar {
    fileprivate var isLetter: Bool {
        switch properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter: true
        default: false
        }
    }
}
