/// Reads the records of a CSV text one after the other.
struct CSVReader {
    /// A record, and the number of its first line.
    typealias Record = (line: Int, cells: [String])

    private let bytes: [UInt8]
    private let separator: UInt8
    private var position = 0
    private var line = 1

    private static let quote = UInt8(ascii: "\"")

    init(_ text: String) {
        bytes = Array((text.first == "\u{feff}" ? text.dropFirst() : text[...]).utf8)
        let header = bytes.prefix { $0 != UInt8(ascii: "\n") }
        separator =
            header.contains(UInt8(ascii: ",")) || !header.contains(UInt8(ascii: ";")) ? UInt8(ascii: ",") : UInt8(ascii: ";")
    }

    /// - Returns: The next record that is not an empty line; `nil` after the last one.
    /// - Throws: ``CSVError``.
    mutating func next() throws(CSVError) -> Record? {
        while isAtLineBreak { skipLineBreak() }
        guard position < bytes.count else { return nil }
        let first = line
        var cells = [try cell()]
        while position < bytes.count, bytes[position] == separator {
            position += 1
            cells.append(try cell())
        }
        skipLineBreak()
        return (first, cells)
    }

    /// Reads a cell up to the separator or the line break after it.
    private mutating func cell() throws(CSVError) -> String {
        guard position < bytes.count, bytes[position] == Self.quote else {
            let start = position
            while position < bytes.count, bytes[position] != separator, !isAtLineBreak { position += 1 }
            return withoutApostrophe(bytes[start..<position])
        }
        let text = try quotedCell()
        guard position == bytes.count || bytes[position] == separator || isAtLineBreak else {
            throw CSVError(line: line, problem: "after a closing quotation mark, expected the end of the cell")
        }
        return text
    }

    private mutating func quotedCell() throws(CSVError) -> String {
        let first = line
        var content: [UInt8] = []
        position += 1
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if byte == Self.quote {
                guard position < bytes.count, bytes[position] == Self.quote else { return withoutApostrophe(content[...]) }
                position += 1
            }
            if byte == UInt8(ascii: "\n") { line += 1 }
            content.append(byte)
        }
        throw CSVError(line: first, problem: "a quotation mark is not closed")
    }

    private func withoutApostrophe(_ content: ArraySlice<UInt8>) -> String {
        let isMarked = content.first == UInt8(ascii: "'") && CSVLine.isFormula(content)
        return String(decoding: isMarked ? content.dropFirst() : content, as: UTF8.self)
    }

    private var isAtLineBreak: Bool {
        guard position < bytes.count else { return false }
        if bytes[position] == UInt8(ascii: "\n") { return true }
        return bytes[position] == UInt8(ascii: "\r") && position + 1 < bytes.count && bytes[position + 1] == UInt8(ascii: "\n")
    }

    private mutating func skipLineBreak() {
        guard isAtLineBreak else { return }
        position += bytes[position] == UInt8(ascii: "\n") ? 1 : 2
        line += 1
    }
}
