import FoundationEssentials
import JSON
import Schemas

/// A line of a CSV file (RFC 4180).
struct CSVLine {
    private(set) var text = ""

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

extension CSVLine {
    /// The names of the columns.
    static let auditHeader = CSVLine([
        "number", "at", "actor", "address", "action", "kind", "object", "before", "after", "id", "hash",
    ])

    /// An entry of the audit log.
    init(_ line: NumberedAuditEntry) {
        let entry = line.entry
        self.init([
            String(line.number), entry.at.dateAndTime, entry.actor ?? "", entry.address ?? "", entry.action, entry.object.kind,
            entry.object.id, entry.before?.text ?? "", entry.after?.text ?? "", entry.id.description, line.hash,
        ])
    }
}

extension UnixMilliseconds {
    /// As ISO 8601 in UTC: `2025-11-21T02:40:00.123Z`.
    fileprivate var dateAndTime: String {
        // The format cuts off what a Double cannot represent exactly.
        let date = Date(timeIntervalSince1970: (Double(rawValue) + 0.5) / 1_000)
        return date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}
