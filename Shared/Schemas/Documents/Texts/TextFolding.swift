// The standard library's normal forms, by which it compares strings.
@_spi(_Unicode) import Swift

extension String {
    /// The text in Unicode's normal form C: equal texts are equal bytes.
    package var composed: String { isASCII ? self : String(composing: unicodeScalars) }

    /// The text without differences of case (Unicode's full case folding, and both letters i of Turkish are one), in normal form C.
    package var caseFolded: String { folded { $0 } }

    /// The text without the differences that a search ignores: those of case, of form (full width, the digits of a script), optional
    /// vowel signs, tatweel and the forms of Arabic letters that are often written for each other, and invisible characters.
    package var searchFolded: String { folded(\.searched) }

    private func folded(_ folding: (Unicode.Scalar) -> Unicode.Scalar?) -> String {
        guard !isASCII else { return lowercased() }
        var folded = String.UnicodeScalarView()
        for scalar in _nfd {
            // A Turkish capital I with dot is an i.
            guard let scalar = folding(scalar), scalar != "\u{307}" || folded.last != "i" else { continue }
            if scalar == "ı" {
                folded.append("i")
            } else if scalar.properties.changesWhenCaseFolded || scalar.properties.generalCategory == .uppercaseLetter {
                // By way of both, `ẞ` and `ß` are `ss`, and all forms of sigma are one.
                folded.append(contentsOf: scalar.properties.lowercaseMapping.uppercased().lowercased().unicodeScalars)
            } else {
                folded.append(scalar)
            }
        }
        return String(composing: folded)
    }

    private init(composing scalars: String.UnicodeScalarView) {
        var composed = String.UnicodeScalarView()
        composed.append(contentsOf: String(scalars)._nfc)
        self.init(composed)
    }

    private var isASCII: Bool { utf8.allSatisfy { $0 < 0x80 } }
}

extension Unicode.Scalar {
    /// The scalar of a decomposed text for a search; `nil` if it does not count.
    fileprivate var searched: Unicode.Scalar? {
        switch value {
        case ..<0x80: self
        // Hebrew points, and Arabic vowel signs with the hamza that stands on a letter.
        case 0x0591...0x05C7, 0x0610...0x061A, 0x064B...0x065F, 0x0670, 0x06D6...0x06ED, 0x08CA...0x08FF:
            properties.generalCategory == .nonspacingMark ? nil : self
        case 0x0640: nil
        case 0x0671...0x0673, 0x0675: "ا"
        case 0x0649, 0x06CC: "ي"
        case 0x0629, 0x06C1, 0x06D5: "ه"
        case 0x06A9: "ك"
        case 0xFF01...0xFF5E: Unicode.Scalar(value - 0xFEE0)
        // It marks the end of a word where no space does.
        case 0x200B: " "
        default:
            if isIgnorable {
                nil
            } else if properties.generalCategory == .decimalNumber, let digit = properties.numericValue {
                Unicode.Scalar(UInt8(ascii: "0") + UInt8(digit))
            } else {
                self
            }
        }
    }

    /// Whether its script puts no spaces between words, so that each letter counts as a word: ideographs, kana and bopomofo, and the
    /// scripts that Unicode's line breaking (UAX 14) finds words in by a dictionary, such as Thai.
    package var isWordByItself: Bool {
        switch value {
        case ..<0x0E00: false
        case 0x0E00...0x0EFF, 0x1000...0x109F, 0x1780...0x17DF, 0x1950...0x19DF, 0x1A20...0x1AAF, 0xA9E0...0xA9FF,
            0xAA60...0xAADF, 0x11700...0x1174F:
            properties.generalCategory == .otherLetter || properties.generalCategory == .modifierLetter
        case 0x3040...0x312F, 0x31A0...0x31BF, 0x31F0...0x31FF, 0xA000...0xA4CF, 0xFF66...0xFF9F, 0x1AFF0...0x1B16F: true
        default: properties.isIdeographic
        }
    }
}
