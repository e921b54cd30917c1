/// A line of a CSV file (RFC 4180).
struct CSVLine: Sendable {
    let text: String

    init(_ cells: [String]) {
        text = cells.map(Self.cell).joined(separator: ",") + "\r\n"
    }

    /// A cell, quoted where necessary.
    ///
    /// Spreadsheets run a cell that begins with one of `=+-@` as a formula, so it gets an apostrophe, which they take for the sign
    /// of a text.
    private static func cell(_ text: String) -> String {
        let isFormula = text.utf8.first.map { "=+-@\t\r\n".utf8.contains($0) } ?? false
        let safe = isFormula ? "'" + text : text
        guard isFormula || safe.utf8.contains(where: { ",\"\r\n".utf8.contains($0) }) else { return safe }
        return "\"" + safe.replacing("\"", with: "\"\"") + "\""
    }
}
