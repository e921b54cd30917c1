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

    /// Greek letters that stand beside Latin ones as symbols, as in `kΩ` and `ΔT`, and look like none of them.
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
