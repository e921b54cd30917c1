import GRDB

/// A row that is no message: why, without the message's text.
struct UnreadableRow: Error, CustomStringConvertible {
    let description: String
}

extension MessageRow {
    init(reading row: Row) throws(UnreadableRow) {
        do {
            try self.init(row: row)
        } catch let error as RowDecodingError {
            // What comes after the dash is the whole row, with the message's text.
            let parts = error.description.split(separator: " - ", maxSplits: 1)
            throw UnreadableRow(description: String(parts.first?.prefix(200) ?? "a column is not as expected"))
        } catch {
            throw UnreadableRow(description: String("\(error)".prefix(200)))
        }
    }
}
