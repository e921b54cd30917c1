package import GRDB
package import Schemas

extension UnreadableDocuments {
    /// The readable rows, in the same order. The log names the others by one of their columns.
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

/// Why a row is malformed, without its contents.
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
        // The text after the dash is the whole row, with its contents.
        let parts = "\(error)".split(separator: " - ", maxSplits: 1)
        let isRow = error is RowDecodingError
        description = isRow ? String(parts.first?.prefix(200) ?? "a column is not as expected") : String("\(error)".prefix(200))
    }
}

/// In SQLite an ObjectId is its 24 hexadecimal digits, as in JSON.
extension ObjectID: DatabaseValueConvertible {
    package var databaseValue: DatabaseValue { description.databaseValue }

    package static func fromDatabaseValue(_ value: DatabaseValue) -> ObjectID? {
        String.fromDatabaseValue(value).flatMap { ObjectID($0) }
    }
}

extension TopicKey: DatabaseValueConvertible {
    package var databaseValue: DatabaseValue { description.databaseValue }

    package static func fromDatabaseValue(_ value: DatabaseValue) -> TopicKey? {
        String.fromDatabaseValue(value).flatMap { TopicKey($0) }
    }
}

/// In SQLite a point in time is a plain number.
extension UnixMilliseconds: DatabaseValueConvertible {
    package var databaseValue: DatabaseValue { rawValue.databaseValue }

    package static func fromDatabaseValue(_ value: DatabaseValue) -> UnixMilliseconds? {
        Int64.fromDatabaseValue(value).map(UnixMilliseconds.init(rawValue:))
    }
}
