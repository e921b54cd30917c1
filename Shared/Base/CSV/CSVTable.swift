/// A table that was read from CSV (RFC 4180), with a header.
///
/// SwiftCSV does not fit: its errors have no line, and it accepts rows with too few cells.
package struct CSVTable: Sendable {
    /// The cells of a row by the names of their columns.
    package struct Row: Sendable {
        /// The number of its first line in the text, from 1.
        package let line: Int
        package let cells: [String: String]
    }

    /// The names of the columns in lower case, in order.
    package let columns: [String]
    package let rows: [Row]

    /// Reads what spreadsheets write. Lines end with LF, CRLF or CR, and empty ones are ignored. So are a byte order mark, spaces around
    /// a cell, and empty columns at the end. The separator is the one that a first line such as `sep=;` names, else a comma, else a
    /// semicolon or a tab if the header has no comma. An apostrophe before a formula is removed: ``CSVLine`` writes it.
    ///
    /// - Throws: ``CSVError``.
    package init(_ text: String) throws(CSVError) {
        var reader = CSVReader(text)
        guard let header = try reader.next() else { throw CSVError(line: 1, problem: "there is no header") }
        var known: Set<String> = []
        columns = header.cells.withoutEmptyEnd(0).map { $0.lowercased() }
        for name in columns where !known.insert(name).inserted {
            throw CSVError(line: header.line, problem: "the column \"\(name)\" is there twice")
        }
        var rows: [Row] = []
        while let record = try reader.next() {
            let cells = record.cells.withoutEmptyEnd(columns.count)
            guard cells.count == columns.count else {
                throw CSVError(
                    line: record.line, problem: "expected \(columns.count) cells, as in the header, found \(cells.count)")
            }
            rows.append(Row(line: record.line, cells: Dictionary(uniqueKeysWithValues: zip(columns, cells))))
        }
        self.rows = rows
    }
}

extension [String] {
    /// Drops empty elements at the end, down to a number of elements.
    fileprivate func withoutEmptyEnd(_ count: Int) -> ArraySlice<String> {
        prefix(Swift.max(count, (lastIndex { !$0.isEmpty } ?? -1) + 1))
    }
}

/// Why a text is not a table in CSV.
package struct CSVError: Error, Hashable, CustomStringConvertible {
    /// From 1.
    package let line: Int
    package let problem: String

    package init(line: Int, problem: String) {
        self.line = line
        self.problem = problem
    }

    package var description: String { "line \(line): \(problem)" }
}

/// Reads the records of a CSV text one after the other.
struct CSVReader {
    /// A record, and the number of its first line.
    typealias Record = (line: Int, cells: [String])

    private let bytes: [UInt8]
    private let separator: UInt8
    private var position = 0
    private var line = 1

    private static let quote = UInt8(ascii: "\"")
    private static let separators = [UInt8](",;\t".utf8)
    private static let byteOrderMark = "\u{feff}".utf8

    init(_ text: String) {
        bytes = Array(text.utf8.starts(with: Self.byteOrderMark) ? text.utf8.dropFirst(Self.byteOrderMark.count) : text.utf8[...])
        let first = bytes.prefix { !"\r\n".utf8.contains($0) }
        // The line by which Excel names the separator.
        if first.count == 5, first.starts(with: "sep=".utf8), let named = first.last, Self.separators.contains(named) {
            separator = named
            position = first.count
        } else {
            separator = Self.separators.first(where: first.contains) ?? Self.separators[0]
        }
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
        skipSpaces()
        guard position < bytes.count, bytes[position] == Self.quote else {
            let start = position
            while position < bytes.count, bytes[position] != separator, !isAtLineBreak { position += 1 }
            let last = bytes[start..<position].lastIndex { $0 != UInt8(ascii: " ") }
            return text(of: bytes[start..<(last.map { $0 + 1 } ?? start)])
        }
        let text = try quotedCell()
        skipSpaces()
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
                guard position < bytes.count, bytes[position] == Self.quote else { return text(of: content[...]) }
                position += 1
            }
            let endsLine = byte == UInt8(ascii: "\r") && !(position < bytes.count && bytes[position] == UInt8(ascii: "\n"))
            if endsLine || byte == UInt8(ascii: "\n") { line += 1 }
            content.append(byte)
        }
        throw CSVError(line: first, problem: "a quotation mark is not closed")
    }

    private func text(of cell: ArraySlice<UInt8>) -> String { SpreadsheetText.unmarked(String(decoding: cell, as: UTF8.self)) }

    private mutating func skipSpaces() {
        while position < bytes.count, bytes[position] == UInt8(ascii: " ") { position += 1 }
    }

    private var isAtLineBreak: Bool { position < bytes.count && "\r\n".utf8.contains(bytes[position]) }

    private mutating func skipLineBreak() {
        guard isAtLineBreak else { return }
        position += bytes[position...].starts(with: "\r\n".utf8) ? 2 : 1
        line += 1
    }
}
