/// The words of a text of ASCII, letters of Latin-1 such as `ä`, and a few punctuation marks, by its bytes. They are the same as those
/// of ``SearchCompounds``, without Unicode's properties and normal forms: for these characters, each is folded alone, and the folded
/// ones are letters and digits, spaces, or neither.
struct LatinSearchWords {
    private var words: [String] = []
    /// The words of the present compound.
    private var compound: [String] = []
    /// The folded bytes of the present word.
    private var word: [UInt8] = []
    /// The number of characters of the present word. All count, and those that are too many are left out.
    private var length = 0
    /// What is between the last word and the next one.
    private var gap = Gap.spaces

    private enum Gap {
        case none
        /// One character that is no space: it makes a compound.
        case joint
        case spaces
    }

    private enum Sign {
        /// One byte, or two that belong to one scalar.
        case letter(UInt8, UInt8? = nil)
        /// `ß`, which is folded to two letters.
        case sharpS
        case space
        case other
    }

    /// - Returns: The words as ``SearchWords`` has them; `nil` if there is another character in the text.
    static func words(of text: String) -> [String]? {
        var text = text
        return text.withUTF8 { bytes in
            var words = LatinSearchWords()
            words.word.reserveCapacity(SearchCompounds.maxWord * 2)
            var place = 0
            while place < bytes.count {
                guard let (sign, size) = Self.sign(at: place, of: bytes) else { return nil }
                words.add(sign)
                place += size
            }
            words.endCompound()
            return words.words
        }
    }

    /// A character of a valid text, and the number of its bytes.
    private static func sign(at place: Int, of bytes: UnsafeBufferPointer<UInt8>) -> (Sign, size: Int)? {
        let byte = bytes[place]
        switch byte {
        case 0x61...0x7A, 0x30...0x39: return (.letter(byte), 1)
        case 0x41...0x5A: return (.letter(byte | 0x20), 1)
        // Unicode's white space.
        case 0x09...0x0D, 0x20: return (.space, 1)
        case ..<0x80: return (.other, 1)
        // U+00C0 to U+00FF.
        case 0xC3:
            switch bytes[place + 1] {
            case 0x97, 0xB7: return (.other, 2)
            case 0x9F: return (.sharpS, 2)
            case let second: return (.letter(0xC3, second | 0x20), 2)
            }
        case 0xE2: return isPunctuation(bytes[place + 1], bytes[place + 2]) ? (.other, 3) : nil
        default: return nil
        }
    }

    /// Whether the bytes after 0xE2 make a dash, a quotation mark, a bullet, an ellipsis or the sign of the euro.
    private static func isPunctuation(_ second: UInt8, _ third: UInt8) -> Bool {
        switch (second, third) {
        case (0x80, 0x90...0x9F), (0x80, 0xA2), (0x80, 0xA6), (0x82, 0xAC): true
        default: false
        }
    }

    private mutating func add(_ sign: Sign) {
        switch sign {
        case .letter(let first, let second):
            beginWord()
            add(first, second)
        case .sharpS:
            beginWord()
            add(UInt8(ascii: "s"), nil)
            add(UInt8(ascii: "s"), nil)
        case .space:
            endWord()
            gap = .spaces
        case .other:
            endWord()
            gap = gap == .none ? .joint : .spaces
        }
    }

    private mutating func beginWord() {
        guard length == 0 else { return }
        if gap == .spaces { endCompound() }
        gap = .none
    }

    private mutating func add(_ first: UInt8, _ second: UInt8?) {
        length += 1
        guard length <= SearchCompounds.maxWord else { return }
        word.append(first)
        if let second { word.append(second) }
    }

    private mutating func endWord() {
        guard length > 0 else { return }
        compound.append(String(decoding: word, as: UTF8.self))
        word.removeAll(keepingCapacity: true)
        length = 0
    }

    private mutating func endCompound() {
        endWord()
        words += SearchWords.all(of: compound)
        compound.removeAll(keepingCapacity: true)
    }
}
