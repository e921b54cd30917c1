import FoundationEssentials

/// Scripts without their comments, which would be a quarter of what browsers load.
enum ScriptComments {
    /// A script in which the lines that are only comments are empty, so that the numbers of the other lines stay.
    ///
    /// No line of a text over several lines may begin as a comment does. A test looks at all scripts.
    static func removed(from script: Data) -> Data {
        let newline = UInt8(ascii: "\n")
        var lines: [ArraySlice<UInt8>] = []
        var isInside = false
        // An array, since data is slow to split.
        for line in [UInt8](script).split(separator: newline, omittingEmptySubsequences: false) {
            let text = line.drop { $0 == UInt8(ascii: " ") }
            let isEnd = text.suffix(2).elementsEqual("*/".utf8)
            let isBlock = text.starts(with: "/*".utf8) && (isEnd || !hasEnd(text))
            let isComment = isInside || isBlock || text.starts(with: "//".utf8)
            if isInside || isBlock { isInside = !isEnd }
            lines.append(isComment ? [] : line)
        }
        return Data(lines.joined(separator: [newline]))
    }

    /// Whether a block comment ends in a line.
    private static func hasEnd(_ line: ArraySlice<UInt8>) -> Bool {
        zip(line, line.dropFirst()).contains { $0 == UInt8(ascii: "*") && $1 == UInt8(ascii: "/") }
    }
}
