/// A line of a CSV file (RFC 4180).
package struct CSVLine: Sendable {
    /// With its line break.
    package let text: String

    package init(_ cells: [String]) {
        text = cells.map(Self.cell).joined(separator: ",") + "\r\n"
    }

    /// A cell, quoted where necessary.
    ///
    /// Spreadsheets run a cell that begins with one of `=+-@` as a formula, so it gets an apostrophe, which they take for the sign
    /// of a text. One that has an apostrophe already gets another one, so that ``CSVTable`` reads the same text.
    private static func cell(_ text: String) -> String {
        let isFormula = isFormula(text.utf8)
        let safe = isFormula ? "'" + text : text
        guard isFormula || safe.utf8.contains(where: { ",\"\r\n".utf8.contains($0) }) else { return safe }
        return "\"" + safe.replacing("\"", with: "\"\"") + "\""
    }

    /// Whether a cell is a formula, without the apostrophes before it.
    static func isFormula(_ text: some Sequence<UInt8>) -> Bool {
        text.first { $0 != UInt8(ascii: "'") }.map { "=+-@\t\r\n".utf8.contains($0) } ?? false
    }
}
