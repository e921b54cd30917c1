extension UnsafeRawBufferPointer {
    /// Finds the end of the characters that need no escape in a JSON string, and whether they are ASCII. Quotes, backslashes and
    /// control characters need one. It checks eight bytes at a time.
    func plainCharacters(from start: Int) -> (end: Int, isASCII: Bool) {
        let (ones, highs): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
        var position = start
        var seen: UInt64 = 0
        while position + 8 <= count {
            let word = loadUnaligned(fromByteOffset: position, as: UInt64.self)
            let quotes = word ^ (ones &* 0x22)
            let backslashes = word ^ (ones &* 0x5C)
            // A byte's high bit is set if the subtraction made it negative.
            let special =
                ((quotes &- ones) & ~quotes) | ((backslashes &- ones) & ~backslashes) | ((word &- ones &* 0x20) & ~word)
            guard special & highs == 0 else { break }
            seen |= word
            position += 8
        }
        while position < count, case let byte = self[position], byte >= 0x20, byte != UInt8(ascii: "\""),
            byte != UInt8(ascii: "\\")
        {
            seen |= UInt64(byte)
            position += 1
        }
        return (position, seen & highs == 0)
    }
}
