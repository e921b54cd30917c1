package import GRDB
package import UnreadableDocuments

extension UnreadableDocuments {
    /// Those rows that can be read, in the same order. The log calls the others by what is in one of their columns.
    package func readable<Value>(
        of rows: [Row], named column: String, as read: (Row) throws -> Value
    ) throws -> [Value] {
        try readable(of: rows, named: { Self.name($0[column]) }) { row in
            do {
                return try read(row)
            } catch {
                throw UnreadableRow(error)
            }
        }
    }

    package static func name(_ value: DatabaseValue) -> String {
        String(String.fromDatabaseValue(value)?.prefix(100) ?? "without a name")
    }
}

/// A row that is not what it should be: why, without what is in it.
package struct UnreadableRow: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) {
        self.description = description
    }

    package init(_ error: any Error) {
        if let row = error as? UnreadableRow {
            self = row
            return
        }
        // What comes after the dash is the whole row, with its texts.
        let parts = "\(error)".split(separator: " - ", maxSplits: 1)
        let isRow = error is RowDecodingError
        description = isRow ? String(parts.first?.prefix(200) ?? "a column is not as expected") : String("\(error)".prefix(200))
    }
}
