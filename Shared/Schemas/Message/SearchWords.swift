import JSON

/// The words of a text, as the archive is searched by them: runs of letters, digits and marks in lower case; an ideograph
/// is a word of its own, since scripts that have them put no spaces between words. Accents count, case does not.
///
/// Both stores keep these words, so that a search finds the same on each: MongoDB's own text index cannot be read in the
/// order of time, page by page, and each database divides and folds words in its own way.
package struct SearchWords: Sequence, IteratorProtocol {
    /// Longer runs are cut: nobody types more, and an index entry must stay small.
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
    /// Every word that the message is found by, once each.
    package var searchWords: Set<String> {
        Set(SearchWords(title)).union(SearchWords(desc)).union(SearchWords(message))
    }
}

/// What somebody searches for: words that all have to occur; one with a `*` at its end stands for every word that begins so.
package struct SearchQuery: Hashable, Sendable {
    package struct Term: Hashable, Sendable {
        package let word: String
        package let isPrefix: Bool
    }

    /// More words would not narrow the search, only cost time.
    package static let maxTerms = 20
    /// A shorter beginning stands for most of what there is.
    package static let minPrefix = 2

    /// In the order in which they were written, once each.
    package let terms: [Term]
    private let text: String
}

extension SearchQuery: LosslessStringConvertible {
    package var description: String { text }

    /// - Returns: `nil` where there is no word to search for, there are too many, or a beginning is too short.
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

extension SearchQuery: Codable {
    /// What a search may be, for error messages.
    package static let expected =
        "1 to \(maxTerms) words to search for, or beginnings of words such as exam*, with \(minPrefix) letters or more"

    package init(from decoder: any Decoder) throws {
        self = try decoder.losslessString(expected: Self.expected)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
