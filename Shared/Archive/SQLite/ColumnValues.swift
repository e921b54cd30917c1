import Base
import GRDB
import Schemas
import Store

/// The columns of a statement, in the order in which it lists them.
protocol RowColumn: CaseIterable, CodingKey, RawRepresentable where RawValue == Int {}

extension RowColumn {
    /// The names of all columns, for a statement.
    static var list: String { list(Array(allCases)) }

    static func list(_ columns: [Self]) -> String {
        columns.map(\.stringValue).joined(separator: ", ")
    }

    /// Assignments of arguments to columns, for a statement.
    static func assignments(_ columns: [Self]) -> String {
        columns.map { "\($0.stringValue) = ?" }.joined(separator: ", ")
    }
}

/// The values of a row as they are stored. GRDB's coding of records would cost several times as much as the database's work.
struct ColumnValues<Column: RowColumn>: Hashable, Sendable {
    /// One value for each column.
    private(set) var all: [DatabaseValue]

    /// - Parameter row: Of a statement that lists all columns first.
    init(_ row: Row) {
        let count = Column.allCases.count
        all = []
        all.reserveCapacity(count)
        for (_, value) in row.prefix(count) { all.append(value) }
    }

    init(_ value: (Column) throws -> DatabaseValue) rethrows {
        all = try Column.allCases.map(value)
    }

    subscript(column: Column) -> DatabaseValue {
        get { all[column.rawValue] }
        set { all[column.rawValue] = newValue }
    }

    subscript(columns: [Column]) -> [DatabaseValue] { columns.map { self[$0] } }

    // MARK: Reading

    func value<Value: DatabaseValueConvertible>(_ column: Column) throws(UnreadableRow) -> Value {
        guard let value = Value.fromDatabaseValue(self[column]) else { throw unreadable(column, "\(Value.self)") }
        return value
    }

    func value<Value: ClosedEnum>(_ column: Column) throws(UnreadableRow) -> Value {
        guard let value = String.fromDatabaseValue(self[column]).flatMap({ Value(rawValue: $0) }) else {
            throw unreadable(column, "one of " + Value.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", "))
        }
        return value
    }

    /// - Returns: `nil` for NULL.
    func optional<Value: DatabaseValueConvertible>(_ column: Column) throws(UnreadableRow) -> Value? {
        self[column].isNull ? nil : try value(column)
    }

    /// Reads a column of JSON.
    func json<Value: Decodable>(_ column: Column) throws(UnreadableRow) -> Value {
        var json: String = try value(column)
        do {
            return try json.withUTF8 { try JSONCoder.decode(from: UnsafeRawBufferPointer($0)) }
        } catch {
            // An error of JSON would blame the caller, whose command is valid.
            throw UnreadableRow(description: "\(column.stringValue): \(UnreadableRow(error).description)")
        }
    }

    /// - Returns: `nil` for NULL.
    func optionalJSON<Value: Decodable>(_ column: Column) throws(UnreadableRow) -> Value? {
        self[column].isNull ? nil : try json(column)
    }

    private func unreadable(_ column: Column, _ expected: String) -> UnreadableRow {
        UnreadableRow(description: "\(column.stringValue): expected \(expected)\(self[column].isNull ? ", found NULL" : "")")
    }
}

extension DatabaseValue {
    /// A value as JSON in a text.
    init(json value: some Encodable) throws {
        self = String(decoding: try JSONCoder.encode(value), as: UTF8.self).databaseValue
    }

    /// The same; NULL for `nil`.
    init(optionalJSON value: (some Encodable)?) throws {
        if let value { try self.init(json: value) } else { self = .null }
    }

    /// JSON that is written already. Empties the buffer.
    init(_ json: inout JSONBytes) {
        self = String(decoding: json.bytes, as: UTF8.self).databaseValue
        json.removeAll()
    }
}
