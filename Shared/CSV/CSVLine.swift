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

    /// A cell, quoted where necessary, also for spreadsheets where `;` separates, and for readers that trim cells.
    private static func cell(_ text: String) -> String {
        let safe = SpreadsheetText.marked(text)
        let isPlain =
            safe == text && text.first != " " && text.last != " " && !safe.utf8.contains { ",;\"\r\n".utf8.contains($0) }
        return isPlain ? safe : "\"" + safe.replacing("\"", with: "\"\"") + "\""
    }
}
