import GRDB
import MongoDatabase
import Schemas

/// A part of a statement, with its arguments.
struct SQLText {
    var sql: String
    var arguments: [DatabaseValue] = []

    /// - Throws: ``BSONError`` for a value that SQLite cannot represent.
    init(_ predicate: Predicate) throws(BSONError) {
        switch predicate {
        case .equal(let field, .null): self.init(sql: "\(field.sql) IS NULL")
        case .equal(let field, let value): self.init(sql: "\(field.sql) = ?", arguments: [try value.databaseValue])
        case .isPresent(let field): self.init(sql: "\(field.sql) IS NOT NULL")
        case .less(let field, let value, let orEqual):
            self.init(sql: "\(field.sql) \(orEqual ? "<=" : "<") ?", arguments: [try value.databaseValue])
        case .greater(let field, let value, let orEqual):
            self.init(sql: "\(field.sql) \(orEqual ? ">=" : ">") ?", arguments: [try value.databaseValue])
        case .all(let predicates): try self.init(predicates, joinedBy: " AND ", orElse: "TRUE")
        case .any(let predicates): try self.init(predicates, joinedBy: " OR ", orElse: "FALSE")
        }
    }

    private init(_ predicates: [Predicate], joinedBy separator: String, orElse empty: String) throws(BSONError) {
        var parts: [SQLText] = []
        for predicate in predicates { parts.append(try SQLText(predicate)) }
        self.init(
            sql: parts.isEmpty ? empty : "(" + parts.map(\.sql).joined(separator: separator) + ")",
            arguments: parts.flatMap(\.arguments))
    }

    private init(sql: String, arguments: [DatabaseValue] = []) {
        self.sql = sql
        self.arguments = arguments
    }
}

extension FieldForm {
    /// SQLite uses an index only if the query contains the same expression.
    var sql: String {
        if name == Envelope.identifier { return "id" }
        let path = name.split(separator: ".").map { "\"\($0)\"" }.joined(separator: ".")
        // An ObjectId is {"$oid": "…"}.
        return "json_extract(document, '$.\(path)\(lowest.type == .objectID ? ".\"$oid\"" : "")')"
    }
}

extension BSONValue {
    /// The result of `json_extract` for the value.
    var databaseValue: DatabaseValue {
        get throws(BSONError) {
            switch self {
            case .objectID(let id): id.description.databaseValue
            case .string(let text): text.databaseValue
            case .int32(let number): number.databaseValue
            case .int64(let number): number.databaseValue
            case .double(let number): number.databaseValue
            case .bool(let value): (value ? 1 : 0).databaseValue
            case .null: .null
            case .array, .document, .foreign: throw BSONError("a value of type \(type) cannot be compared")
            }
        }
    }
}
