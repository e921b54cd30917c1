import Store
import GRDB
import Logging
import Schemas
import TestSupport
import Testing

@testable import Cube

/// The place of a cube, which can be opened more than once.
struct CubePlace {
    let folder: String
    /// The connection string, if it is in MongoDB.
    let url: String?

    func open(sizeLimit: Int64 = 8 << 20, logger: Logger = quietLogger) async throws -> CubeStore {
        try await CubeStore(
            at: StoragePlace(database: try url.map { try MongoURL($0) }, folder: folder),
            sizeLimit: CubeSizeLimit(bytes: sizeLimit), logger: logger)
    }

    /// Renames a channel without the store, like another program.
    func rename(_ channel: ObjectID, _ name: String) async throws { try await set("name", to: name, of: channel) }

    /// Sets a text of a channel without the store, like another program.
    ///
    /// - Parameter path: As in MongoDB: `areas.0.name`.
    func set(_ path: String, to text: String, of channel: ObjectID) async throws {
        let keys = path.split(separator: ".").map { Int($0) == nil ? ".\($0)" : "[\($0)]" }.joined()
        try await change(
            "UPDATE icube SET document = json_set(document, ?, ?) WHERE id = ?", ["$\(keys)", text, "\(channel)"]
        ) {
            _ = try $0.update(
                ["_id": channel.bson], ["$set": .document(BSONDocument([(path, text.bson)]))], in: "icube")
        }
    }

    /// Inserts a channel without the store, like another program.
    func insert(_ id: ObjectID, _ name: String) async throws {
        let document: BSONDocument = ["_id": id.bson, "name": name.bson]
        try await change("INSERT INTO icube (id, document) VALUES (?, ?)", ["\(id)", try document.extendedJSON]) {
            _ = try $0.insert([document], into: "icube")
        }
    }

    /// Changes the database without the store.
    func change(
        _ sql: String, _ arguments: [String], _ change: @escaping @Sendable (MongoConnection) throws -> Void
    ) async throws {
        guard url == nil else { return try await withDatabase(change) }
        let file = try EmbeddedDatabase(path: folder + "/cube.sqlite", durability: .processCrash) { _ in }
        try await perform {
            try await file.write { try $0.execute(sql: sql, arguments: StatementArguments(arguments)) }
        } finally: {
            try file.close()
        }
    }

    /// Works with MongoDB without the store, like another program.
    func withDatabase<Value: Sendable>(_ body: @escaping @Sendable (MongoConnection) throws -> Value) async throws -> Value {
        let database = await MongoDatabase.open(
            try MongoURL(try #require(url)), application: "test", logger: quietLogger)
        return try await perform {
            try await database.run(body)
        } finally: {
            await database.close()
        }
    }
}

/// Runs a test with an empty place.
func withCubePlace<Result>(
    _ kind: StoreKind, isolation: isolated (any Actor)? = #isolation, _ body: (CubePlace) async throws -> Result
) async throws -> Result {
    try await withTemporaryFolder { folder in
        try await body(CubePlace(folder: folder, url: try await kind.newDatabaseURL()))
    }
}

/// Runs a test with an empty store.
func withCubeStore<Result>(
    _ kind: StoreKind, isolation: isolated (any Actor)? = #isolation, _ body: (CubeStore) async throws -> Result
) async throws -> Result {
    try await withCubePlace(kind) { place in
        let store = try await place.open()
        return try await perform {
            try await body(store)
        } finally: {
            try await store.close()
        }
    }
}
