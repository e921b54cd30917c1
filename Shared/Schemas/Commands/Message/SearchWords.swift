import Base

/// The words of a text for the archive's search: runs of letters, digits and marks, folded (``String/searchFolded``). A letter of a
/// script that puts no spaces between words, such as an ideograph, kana or a Thai letter, is one word with its marks. Accents
/// matter, case does not.
///
/// A compound such as `Wi-Fi` yields its parts, `wi` and `fi`, and the compound as one word, `wifi`, since people write both. A longer
/// one, such as `E-Mail-Adresse`, also yields each pair of neighbours as one word: `email`.
///
/// Both stores index these words, so that a search has the same results in each: the two databases split and fold words in
/// different ways, and MongoDB's text index cannot be read page by page in the order of time.
package struct SearchWords: Sequence, IteratorProtocol {
    /// `nil` if ``words`` are all.
    private var compounds: SearchCompounds?
    private var words: ArraySlice<String>

    package init(_ text: String) {
        // Fast path: nearly all texts of many languages.
        if let words = LatinSearchWords.words(of: text) {
            self.words = ArraySlice(words)
        } else {
            words = []
            compounds = SearchCompounds(text)
        }
    }

    package mutating func next() -> String? {
        if let word = words.popFirst() { return word }
        guard let compound = compounds?.next() else { return nil }
        words = ArraySlice(Self.all(of: compound))
        return words.popFirst()
    }

    /// The words of a compound, each two neighbours as one word, and all of them as one.
    static func all(of compound: [String]) -> [String] {
        guard compound.count > 1 else { return compound }
        let pairs = compound.count > 2 ? zip(compound, compound.dropFirst()).map { SearchCompounds.joined([$0, $1]) } : []
        return compound + pairs + [SearchCompounds.joined(compound)]
    }
}

/// The compounds of a text: words between which one character stands that is no space, such as `Wi-Fi`, `O'Neill`, `22:30` and `R&D`.
/// Most are one word.
struct SearchCompounds: Sequence, IteratorProtocol {
    /// Longer words are cut: index entries must stay small, and people do not search for more.
    static let maxWord = 60

    private var rest: Substring.UnicodeScalarView

    init(_ text: String) {
        rest = text.searchFolded[...].unicodeScalars
    }

    /// A compound as one word.
    static func joined(_ words: [String]) -> String {
        String(String.UnicodeScalarView(words.joined().unicodeScalars.prefix(maxWord)))
    }

    mutating func next() -> [String]? {
        rest = rest.drop { !Self.isInWord($0) }
        guard let first = rest.first else { return nil }
        var words = [takeWord(first)]
        guard !first.isWordByItself else { return words }
        while let first = startOfJoined() { words.append(takeWord(first)) }
        return words
    }

    private mutating func takeWord(_ first: Unicode.Scalar) -> String {
        let isAlone = first.isWordByItself
        let tail = rest.dropFirst().prefix { isAlone ? Self.isMark($0) : Self.isInWord($0) && !$0.isWordByItself }
        let word = rest[..<tail.endIndex]
        rest = rest[tail.endIndex...]
        return String(String.UnicodeScalarView(word.prefix(Self.maxWord)))
    }

    /// Skips the character that joins the next word to the last one.
    ///
    /// - Returns: How that word begins; `nil` if it is not joined.
    private mutating func startOfJoined() -> Unicode.Scalar? {
        guard let joint = rest.first, !Self.isInWord(joint), !joint.properties.isWhitespace else { return nil }
        let behind = rest.dropFirst()
        guard let first = behind.first, Self.isInWord(first), !first.isWordByItself else { return nil }
        rest = behind
        return first
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

extension MessageContent {
    /// The words of its texts, without duplicates.
    package var searchWords: Set<String> {
        var words = Set(SearchWords(title))
        words.formUnion(SearchWords(desc))
        words.formUnion(SearchWords(message))
        return words
    }
}

/// A search: all its terms must occur. A word that ends with `*` is a prefix.
package struct SearchQuery: Hashable, Sendable {
    /// One term of a search: a word, or a compound of several words, such as `e-mail`.
    package struct Term: Hashable, Sendable {
        /// One word, or the words of a compound. A text matches if it has all of them, or ``joined``.
        package let words: [String]
        /// Whether the last word and ``joined`` match as prefixes.
        package let isPrefix: Bool

        /// The compound written as one word; `nil` for a single word.
        package var joined: String? { words.count > 1 ? SearchCompounds.joined(words) : nil }
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
            let compounds = Array(SearchCompounds(String(part)))
            for (place, words) in compounds.enumerated() {
                let isLetter = words[0].unicodeScalars.first?.isWordByItself == true
                let term = Term(words: words, isPrefix: !isLetter && place == compounds.count - 1 && part.hasSuffix("*"))
                if isLetter { letters.append(term) } else { terms.append(term) }
            }
        }
        var seen: Set<Term> = []
        terms.removeAll { !seen.insert($0).inserted }
        letters.removeAll { !seen.insert($0).inserted }
        guard !seen.isEmpty, terms.reduce(0, { $0 + $1.words.count }) <= Self.maxTerms,
            terms.allSatisfy({ !$0.isPrefix || ($0.words.last ?? "").unicodeScalars.count >= Self.minPrefix })
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
