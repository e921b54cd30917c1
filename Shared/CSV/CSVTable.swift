/// A table that was read from CSV (RFC 4180), with a header.
///
/// Not by SwiftCSV: its errors have no line, and it accepts rows with too few cells.
package struct CSVTable: Sendable {
    /// The cells of a row by the names of their columns.
    package struct Row: Sendable {
        /// The number of its first line in the text, from 1.
        package let line: Int
        package let cells: [String: String]
    }

    /// The names of the columns, in order.
    package let columns: [String]
    package let rows: [Row]

    /// Reads a text. Lines end with LF or CRLF, and empty ones are ignored. A byte order mark is ignored. The separator is a comma, or
    /// a semicolon if the header has semicolons and no comma: spreadsheets write that where the comma is the decimal sign. An
    /// apostrophe before `=`, `+`, `-` or `@` at the beginning of a cell is removed: ``CSVLine`` writes it.
    ///
    /// - Throws: ``CSVError``.
    package init(_ text: String) throws(CSVError) {
        var reader = CSVReader(text)
        guard let header = try reader.next() else { throw CSVError(line: 1, problem: "there is no header") }
        var known: Set<String> = []
        for name in header.cells where !known.insert(name).inserted {
            throw CSVError(line: header.line, problem: "the column \"\(name)\" is there twice")
        }
        columns = header.cells
        var rows: [Row] = []
        while let record = try reader.next() {
            guard record.cells.count == header.cells.count else {
                throw CSVError(
                    line: record.line,
                    problem: "expected \(header.cells.count) cells, as in the header, found \(record.cells.count)")
            }
            rows.append(Row(line: record.line, cells: Dictionary(uniqueKeysWithValues: zip(header.cells, record.cells))))
        }
        self.rows = rows
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
