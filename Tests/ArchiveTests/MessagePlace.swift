import Store
import GRDB
import Logging
import Archive
import Schemas
import TestSupport

extension StoreKind {
    /// More than a store reads at a time. Level one needs so many only of SQLite: the tests' server for MongoDB is slow.
    var moreThanAPage: Int { self == .sqlite || Level.isAll ? 1_100 : 50 }
}

/// The place of an archive, which can be opened more than once.
struct MessagePlace {
    let folder: String
    let database: MongoURL?

    func open(
        unreadable: UnreadableDocument = .skipped, logger: Logger = quietLogger
    ) async throws -> any MessageStore {
        try await openMessageStore(database: database, folder: folder, unreadable: unreadable, logger: logger)
    }

    /// Makes one field of a stored message invalid, without the store.
    ///
    /// - Parameters:
    ///   - column: The column in SQLite.
    ///   - field: The path of the field in MongoDB.
    func spoil(_ msiKey: ObjectID, column: String, field: String) async throws {
        try await change("UPDATE message SET \(column) = 'spoilt' WHERE msiKey = ?", [msiKey]) {
            _ = try $0.update(["msi_key": msiKey.bson], ["$set": [field: "spoilt"]], in: "message")
        }
    }

    /// Makes the transport's message of a stored push invalid, without the store.
    func spoil(push id: ObjectID) async throws {
        try await change("UPDATE push SET message = 'spoilt' WHERE pushID = ?", [id]) {
            _ = try $0.update(["_id": id.bson], ["$set": ["message": "spoilt"]], in: "push")
        }
    }

    /// Changes the database without the store.
    private func change(
        _ sql: String, _ arguments: StatementArguments, _ change: @escaping @Sendable (MongoConnection) throws -> Void
    ) async throws {
        guard let database else {
            let file = try EmbeddedDatabase(path: folder + "/message-log.sqlite", durability: .processCrash) { _ in }
            try await file.write { try $0.execute(sql: sql, arguments: arguments) }
            return try file.close()
        }
        let server = await MongoDatabase.open(database, application: "test", logger: quietLogger)
        try await server.run(change)
        await server.close()
    }
}

/// Runs a test with an empty place.
func withMessagePlace<Result>(
    _ kind: StoreKind, isolation: isolated (any Actor)? = #isolation, _ body: (MessagePlace) async throws -> Result
) async throws -> Result {
    try await withTemporaryFolder { folder in
        try await body(MessagePlace(folder: folder, database: kind.newDatabaseURL().map { try MongoURL($0) }))
    }
}

/// Runs a test with an empty store.
func withMessageStore<Result>(
    _ kind: StoreKind, isolation: isolated (any Actor)? = #isolation, _ body: (any MessageStore) async throws -> Result
) async throws -> Result {
    try await withMessagePlace(kind) { place in
        let store = try await place.open()
        do {
            let result = try await body(store)
            try await store.close()
            return result
        } catch {
            try await store.close()
            throw error
        }
    }
}
