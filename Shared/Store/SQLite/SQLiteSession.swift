import GRDB
import Schemas

/// The collections in a SQLite file: each has a table with a row for each document, in Extended JSON.
struct SQLiteSession: DocumentSession {
    let database: Database
    /// Refuses writes that need room while the disk has only its reserve; `nil` if nothing is written.
    var checkRoom: (() throws -> Void)?

    var survivesViolation: Bool { true }

    func requireRoom() throws { try checkRoom?() }

    func find(_ selection: Selection) throws -> [BSONDocument] {
        let filter = try SQLText(selection.predicate)
        let order = selection.order.map { "\($0.sql) \(selection.isDescending ? "DESC" : "ASC")" }.joined(separator: ", ")
        return try documents(
            """
            SELECT id, document FROM \(selection.collection.name.quotedDatabaseIdentifier) WHERE \(filter.sql)
            \(order.isEmpty ? "" : "ORDER BY \(order)") LIMIT ? OFFSET ?
            """,
            filter.arguments + [selection.limit.databaseValue, selection.skip.databaseValue])
    }

    func insert(_ document: BSONDocument, _ id: BSONValue, into collection: CollectionForm) throws {
        if collection.reserve != .everything { try requireRoom() }
        try naming(in: collection) {
            try run(
                "INSERT INTO \(collection.name.quotedDatabaseIdentifier) (id, document) VALUES (?, ?)",
                [try id.databaseValue, try document.extendedJSON.databaseValue])
        }
    }

    func insert(_ documents: [(BSONDocument, id: BSONValue)], into collection: CollectionForm) throws {
        for (document, id) in documents { try insert(document, id, into: collection) }
    }

    func values(of field: FieldForm, among values: [BSONValue], in collection: CollectionForm) throws -> [BSONValue] {
        // One statement for each value: SQLite needs no round trips.
        try values.filter { value in
            try !rows(
                "SELECT 1 FROM \(collection.name.quotedDatabaseIdentifier) WHERE \(field.sql) = ? LIMIT 1",
                [try value.databaseValue]
            ).isEmpty
        }
    }

    func greatestID(upTo max: Int64, in collection: CollectionForm) throws -> Int64? {
        // The column, since the document of another program may lack its identifier. Texts are greater than all numbers.
        let rows = try rows(
            "SELECT id FROM \(collection.name.quotedDatabaseIdentifier) WHERE id >= 0 AND id <= ? ORDER BY id DESC LIMIT 1",
            [max.databaseValue])
        return rows.first.flatMap { Int64.fromDatabaseValue($0[0]) }
    }

    func replace(_ read: BSONDocument, by document: BSONDocument, _ id: BSONValue, in collection: CollectionForm) throws {
        let grows = document.withUnsafeBytes(\.count) > read.withUnsafeBytes(\.count)
        if collection.reserve == .nothing, grows { try requireRoom() }
        try naming(in: collection) {
            try run(
                "UPDATE \(collection.name.quotedDatabaseIdentifier) SET document = ? WHERE id = ?",
                [try document.extendedJSON.databaseValue, try id.databaseValue])
        }
        guard database.changesCount == 1 else { throw Overtaken() }
    }

    func delete(_ read: BSONDocument, _ id: BSONValue, from collection: CollectionForm) throws {
        try run("DELETE FROM \(collection.name.quotedDatabaseIdentifier) WHERE id = ?", [try id.databaseValue])
        guard database.changesCount == 1 else { throw Overtaken() }
    }

    func delete(_ ids: [BSONValue], from collection: CollectionForm) throws {
        let table = collection.name.quotedDatabaseIdentifier
        // Many are deleted only of queues, whose identifiers need no escapes in JSON.
        let identifiers = ids.compactMap { id in if case .objectID(let id) = id { "\"\(id)\"" } else { nil } }
        guard identifiers.count == ids.count else {
            for id in ids { try run("DELETE FROM \(table) WHERE id = ?", [try id.databaseValue]) }
            return
        }
        try run(
            "DELETE FROM \(table) WHERE id IN (SELECT value FROM json_each(?))",
            ["[\(identifiers.joined(separator: ","))]".databaseValue])
    }

    func count(_ collection: CollectionForm, upTo max: Int) throws -> Int {
        let found = try rows(
            "SELECT count(*) FROM (SELECT 1 FROM \(collection.name.quotedDatabaseIdentifier) LIMIT ?)", [max.databaseValue])
        return found.first?[0] ?? 0
    }

    func delete(where predicate: Predicate, from collection: CollectionForm) throws -> Int {
        let filter = try SQLText(predicate)
        try run("DELETE FROM \(collection.name.quotedDatabaseIdentifier) WHERE \(filter.sql)", filter.arguments)
        return database.changesCount
    }

    func scan(_ collection: String, after id: BSONValue?, limit: Int) throws -> ScannedPage {
        let rows = try rows(
            """
            SELECT id, document FROM \(collection.quotedDatabaseIdentifier) \(id == nil ? "" : "WHERE id > ?") ORDER BY id LIMIT ?
            """,
            [try id?.databaseValue, limit.databaseValue].compactMap(\.self))
        return ScannedPage(documents: rows.map(document), identifiers: rows.map { BSONValue(identifier: $0[0]) })
    }

    private func documents(_ sql: String, _ arguments: [DatabaseValue]) throws -> [BSONDocument] {
        try rows(sql, arguments).map(document)
    }

    private func rows(_ sql: String, _ arguments: [DatabaseValue]) throws -> [Row] {
        try Row.fetchAll(database.cachedStatement(sql: sql), arguments: StatementArguments(arguments))
    }

    private func document(_ row: Row) -> BSONDocument {
        do throws(BSONError) {
            let document = try BSONDocument(extendedJSON: String.fromDatabaseValue(row[1]) ?? "")
            // Another program may have changed one of the two.
            guard try BSONFields(document)[Envelope.identifier]?.databaseValue == row[0] as DatabaseValue else {
                throw BSONError("its \(Envelope.identifier) is not the id of its row")
            }
            return document
        } catch {
            return [Envelope.identifier: BSONValue(identifier: row[0]), Envelope.unreadable: .string("\(error)")]
        }
    }

    private func run(_ sql: String, _ arguments: [DatabaseValue]) throws {
        try database.cachedStatement(sql: sql).execute(arguments: StatementArguments(arguments))
    }

    /// Runs a statement whose error names the violated index.
    private func naming(in collection: CollectionForm, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as DatabaseError where error.isUniqueViolation {
            let index = collection.indexes.first { error.message?.contains("'\($0.sqlName(in: collection.name))'") == true }
            throw UniqueViolation(index: index?.name ?? Envelope.identifier)
        }
    }
}

extension BSONValue {
    /// The identifier of a row, with the type that it has there: SQLite sorts all numbers before all texts.
    fileprivate init(identifier: DatabaseValue) {
        switch identifier.storage {
        case .int64(let number): self = .int64(number)
        case .double(let number): self = .double(number)
        case .string(let text): self = .string(text)
        // The layer stores no identifiers of other types.
        case .blob, .null: self = .null
        }
    }
}

extension DatabaseError {
    var isUniqueViolation: Bool {
        [.SQLITE_CONSTRAINT_UNIQUE, .SQLITE_CONSTRAINT_PRIMARYKEY].contains(extendedResultCode)
    }
}

/// A part of a statement, with its arguments.
struct SQLText {
    var sql: String
    var arguments: [DatabaseValue] = []

    /// - Throws: ``BSONError`` for a value that SQLite cannot represent.
    init(_ predicate: Predicate) throws(BSONError) {
        switch predicate {
        case .equal(let field, .null): self.init(sql: "\(field.sql) IS NULL")
        case .equal(let field, let value): self.init(sql: "\(field.sql) = ?", arguments: [try value.databaseValue])
        case .among(let field, let ids):
            // One argument, so that the statement is the same for any number of them. They need no escapes in JSON.
            self.init(
                sql: "\(field.sql) IN (SELECT value FROM json_each(?))",
                arguments: ["[\(ids.map { "\"\($0)\"" }.joined(separator: ","))]".databaseValue])
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
