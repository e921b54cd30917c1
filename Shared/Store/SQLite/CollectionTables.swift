import Base
import GRDB
import Logging
import Schemas

/// Brings the tables of a store and their indexes in line with its declaration.
enum CollectionTables {
    /// - Parameter upgrade: Brings the documents of a collection to its schema.
    /// - Throws: ``CommandFailure`` with status `unavailable` if stored documents violate a unique index, or the file has a schema that
    ///   this version does not know.
    static func prepare(
        _ store: StoreDeclaration, in database: Database, _ upgrade: (CollectionForm, SQLiteSession) throws -> Void
    ) throws {
        try create(StoreRegister.name, in: database)
        for collection in store.collections {
            try checkFormat(of: collection, in: database)
            try create(collection.name, in: database)
            guard try database.columns(in: collection.name).contains(where: { $0.name == "document" }) else {
                throw CommandFailure.foreignFile("\(store.name).sqlite")
            }
            let present = try String.fetchAll(
                database, sql: "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL",
                arguments: [collection.name])
            let declared = Set(collection.indexes.map { $0.sqlName(in: collection.name) })
            // Also an index of an older version.
            for name in present where !declared.contains(name) {
                try database.execute(sql: "DROP INDEX \(name.quotedDatabaseIdentifier)")
            }
            try upgrade(collection, SQLiteSession(database: database))
            for index in collection.indexes where !present.contains(index.sqlName(in: collection.name)) {
                try create(index, of: collection, in: database)
            }
        }
    }

    private static func checkFormat(of collection: CollectionForm, in database: Database) throws {
        let file = try String.fetchOne(database, sql: "SELECT file FROM pragma_database_list WHERE name = 'main'") ?? ""
        do {
            try StoreRegister.check(collection, in: SQLiteSession(database: database), of: file)
        } catch let error as UnknownFormat {
            throw CommandFailure(.unavailable, error.description)
        }
    }

    /// Creates the table of a collection if it is missing.
    static func create(_ name: String, in database: Database) throws {
        // Without a column type, numbers stay numbers and texts stay texts.
        try database.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS \(name.quotedDatabaseIdentifier) (
                    id PRIMARY KEY NOT NULL,
                    document TEXT NOT NULL CHECK (json_valid(document)))
                """)
    }

    private static func create(_ index: IndexForm, of collection: CollectionForm, in database: Database) throws {
        let isUnique = index.kind == .unique
        // `id` breaks ties, so that a page can continue.
        let columns = (index.fields.map(\.sql) + (isUnique ? [] : ["id"])).joined(separator: ", ")
        let (name, table) = (index.sqlName(in: collection.name), collection.name.quotedDatabaseIdentifier)
        do {
            try database.execute(
                sql: "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(name.quotedDatabaseIdentifier) ON \(table) (\(columns))")
        } catch let error as DatabaseError where error.isUniqueViolation {
            throw CommandFailure(
                .unavailable,
                "two documents of \(collection.name) have the same \(index.fields.map(\.name).joined(separator: ", ")); remove one of them"
            )
        }
    }
}

extension IndexForm {
    /// SQLite's index names are unique in the whole file.
    func sqlName(in collection: String) -> String { "\(collection) \(name)" }
}
