import JSON

/// The words of a text for the archive's search: runs of letters, digits and marks in lower case. An ideograph is a word of its
/// own, since its scripts put no spaces between words. Accents matter, case does not.
///
/// Both stores index these words, so that a search has the same results in each: the two databases split and fold words in
/// different ways, and MongoDB's text index cannot be read page by page in the order of time.
package struct SearchWords: Sequence, IteratorProtocol {
    /// Longer runs are cut: index entries must stay small, and people do not search for more.
    package static let maxWord = 60

    private var rest: Substring.UnicodeScalarView

    package init(_ text: String) {
        rest = text.lowercased()[...].unicodeScalars
    }

    package mutating func next() -> String? {
        rest = rest.drop { !Self.isInWord($0) }
        guard let first = rest.first else { return nil }
        guard !first.properties.isIdeographic else {
            rest.removeFirst()
            return String(first)
        }
        let word = rest.prefix { Self.isInWord($0) && !$0.properties.isIdeographic }
        rest = rest[word.endIndex...]
        return String(String.UnicodeScalarView(word.prefix(Self.maxWord)))
    }

    private static func isInWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
            .spacingMark, .enclosingMark, .decimalNumber, .letterNumber, .otherNumber:
            true
        default: false
        }
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
    /// Shorter prefixes match most messages.
    package static let minPrefix = 2

    /// In their order, without duplicates.
    package let terms: [Term]
    private let text: String
}

extension SearchQuery: LosslessStringConvertible {
    package var description: String { text }

    /// - Returns: `nil` if there is no word, there are too many, or a prefix is too short.
    package init?(_ text: String) {
        var terms: [Term] = []
        for part in text.split(whereSeparator: \.isWhitespace) {
            var words = Array(SearchWords(String(part)))
            guard let last = words.popLast() else { continue }
            terms += words.map { Term(word: $0, isPrefix: false) }
            terms.append(Term(word: last, isPrefix: part.hasSuffix("*")))
        }
        var seen: Set<Term> = []
        terms.removeAll { !seen.insert($0).inserted }
        guard !terms.isEmpty, terms.count <= Self.maxTerms,
            terms.allSatisfy({ !$0.isPrefix || $0.word.unicodeScalars.count >= Self.minPrefix })
        else { return nil }
        self.terms = terms
        self.text = text
    }
}

extension SearchQuery: TextCodable {
    package static let expected =
        "1 to \(maxTerms) words to search for, or beginnings of words such as exam*, with \(minPrefix) letters or more"
    package static let example = "exam* library"
}
