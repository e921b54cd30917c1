import JSON

/// The words of a text for the archive's search: runs of letters, digits and marks, folded (``String/searchFolded``). A letter of a
/// script that puts no spaces between words, such as an ideograph, kana or a Thai letter, is a word of its own with its marks. Accents
/// matter, case does not.
///
/// Both stores index these words, so that a search has the same results in each: the two databases split and fold words in
/// different ways, and MongoDB's text index cannot be read page by page in the order of time.
package struct SearchWords: Sequence, IteratorProtocol {
    /// Longer runs are cut: index entries must stay small, and people do not search for more.
    package static let maxWord = 60

    private var rest: Substring.UnicodeScalarView

    package init(_ text: String) {
        rest = text.searchFolded[...].unicodeScalars
    }

    package mutating func next() -> String? {
        rest = rest.drop { !Self.isInWord($0) }
        guard let first = rest.first else { return nil }
        let others = rest.dropFirst()
        let isAlone = first.isWordByItself
        let tail = others.prefix { isAlone ? Self.isMark($0) : Self.isInWord($0) && !$0.isWordByItself }
        let word = rest[..<tail.endIndex]
        rest = rest[tail.endIndex...]
        return String(String.UnicodeScalarView(word.prefix(Self.maxWord)))
    }

    private static func isInWord(_ scalar: Unicode.Scalar) -> Bool {
        // Fast path: the properties take longer to look up.
        if scalar.isASCII { return (0x61...0x7A).contains(scalar.value) || (0x30...0x39).contains(scalar.value) }
        return switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber, .letterNumber,
            .otherNumber:
            true
        default: isMark(scalar)
        }
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        [.nonspacingMark, .spacingMark, .enclosingMark].contains(scalar.properties.generalCategory)
    }
}

extension Message {
    /// The words of a message, without duplicates.
    package var searchWords: Set<String> {
        Set(SearchWords(title)).union(SearchWords(desc)).union(SearchWords(message))
    }
}

/// A search: words that must all occur. A word with a `*` at its end is a prefix.
package struct SearchQuery: Hashable, Sendable {
    /// A word that must occur, or the beginning of one.
    package struct Term: Hashable, Sendable {
        package let word: String
        package let isPrefix: Bool
    }

    /// More words cost time and hardly narrow the search.
    package static let maxTerms = 20
    /// More letters of a script without spaces do not narrow the search either; the rest is left out.
    private static let maxLetters = 40
    /// Shorter prefixes match most messages.
    package static let minPrefix = 2

    /// Without duplicates.
    package let terms: [Term]
    private let text: String
}

extension SearchQuery: LosslessStringConvertible {
    package var description: String { text }

    /// - Returns: `nil` if there is no word, there are too many, or a prefix is too short.
    package init?(_ text: String) {
        var (terms, letters): ([Term], [Term]) = ([], [])
        for part in text.split(whereSeparator: \.isWhitespace) {
            let words = Array(SearchWords(String(part)))
            for (place, word) in words.enumerated() {
                let isLetter = word.unicodeScalars.first?.isWordByItself == true
                let term = Term(word: word, isPrefix: !isLetter && place == words.count - 1 && part.hasSuffix("*"))
                if isLetter { letters.append(term) } else { terms.append(term) }
            }
        }
        var seen: Set<Term> = []
        terms.removeAll { !seen.insert($0).inserted }
        letters.removeAll { !seen.insert($0).inserted }
        guard !seen.isEmpty, terms.count <= Self.maxTerms,
            terms.allSatisfy({ !$0.isPrefix || $0.word.unicodeScalars.count >= Self.minPrefix })
        else { return nil }
        self.terms = terms + letters.prefix(Self.maxLetters)
        self.text = text
    }
}

extension SearchQuery: TextCodable {
    package static let expected =
        "1 to \(maxTerms) words to search for, or beginnings of words such as exam*, with \(minPrefix) letters or more"
    package static let example = "exam* library"
}
