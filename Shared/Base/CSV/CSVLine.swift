/// A line of a CSV file (RFC 4180).
package struct CSVLine: Sendable {
    /// With its line break.
    package let text: String

    package init(_ cells: [String]) {
        text = cells.map(Self.cell).joined(separator: ",") + "\r\n"
    }

    /// The first line of a file, after a byte order mark, by which spreadsheets know that the file is UTF-8.
    package init(header: [String]) {
        text = "\u{feff}" + CSVLine(header).text
    }

    /// A cell, quoted where necessary, including for spreadsheets where `;` separates and for readers that trim cells.
    private static func cell(_ text: String) -> String {
        let safe = SpreadsheetText.marked(text)
        let isPlain =
            safe == text && text.first != " " && text.last != " " && !safe.utf8.contains { ",;\"\r\n".utf8.contains($0) }
        return isPlain ? safe : "\"" + safe.replacing("\"", with: "\"\"") + "\""
    }
}

/// Escapes texts that spreadsheets would run as formulas.
///
/// A spreadsheet runs a cell that begins with one of `=+-@`, even in its full-width form, as a formula. An apostrophe before it marks
/// a text. Where `;` separates, quotes in the middle of a line mean nothing: there a cell begins after each `;`, and a line
/// after each line break. A formula that already has apostrophes gets another one, so that reading restores the same text.
enum SpreadsheetText {
    /// The text with an apostrophe before each formula.
    static func marked(_ text: String) -> String {
        guard mayHaveFormula(text) else { return text }
        var scalars = Array(text.unicodeScalars)
        for place in formulas(in: scalars).reversed() { scalars.insert("'", at: place) }
        return String(String.UnicodeScalarView(scalars))
    }

    /// The text of a cell that ``marked(_:)`` has written.
    static func unmarked(_ cell: String) -> String {
        guard cell.utf8.contains(UInt8(ascii: "'")) else { return cell }
        var scalars = Array(cell.unicodeScalars)
        for place in formulas(in: scalars).reversed() where scalars[place] == "'" { scalars.remove(at: place) }
        return String(String.UnicodeScalarView(scalars))
    }

    /// Where formulas begin, with the apostrophes before them.
    private static func formulas(in scalars: [Unicode.Scalar]) -> [Int] {
        scalars.indices.filter { place in
            guard place == 0 || ";\r\n".unicodeScalars.contains(scalars[place - 1]) else { return false }
            guard let first = scalars[place...].first(where: { $0 != "'" }) else { return false }
            // Some spreadsheets drop white space at the start of a cell.
            return "=+-@＝＋－＠".unicodeScalars.contains(first) || place == 0 && "\t\r\n".unicodeScalars.contains(first)
        }
    }

    /// Fast path: `false` for nearly every text.
    private static func mayHaveFormula(_ text: String) -> Bool {
        guard let first = text.utf8.first else { return false }
        let isPlain = (0x41...0x7A).contains(first) || (0x30...0x39).contains(first)
        return !isPlain || text.utf8.contains { ";\r\n".utf8.contains($0) }
    }
}
