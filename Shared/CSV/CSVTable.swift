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
    /// Without empty elements at the end, as far as they are more than a number.
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
