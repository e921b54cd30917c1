import GRDB
import Logging
import Store
import Schemas
import TestSupport
import Testing

/// The place of a store. A test can open it more than once, and write to the database without the layer.
struct StorePlace: Sendable {
    let kind: StoreKind
    let folder: String
    let url: String?

    var place: StoragePlace {
        get throws { StoragePlace(database: try url.map { try MongoURL($0) }, folder: folder) }
    }

    func open(
        _ declaration: StoreDeclaration = Devices.store, logger: Logger = quietLogger,
        now: @escaping @Sendable () -> UnixMilliseconds = { .now }
    ) async throws -> Storage {
        try await Storage.open(declaration, at: try place, logger: logger, now: now)
    }

    /// Stores a document as another program would.
    func insert(_ document: BSONDocument, into collection: String) async throws {
        if let url {
            try await withMongoDatabase(url) { database in
                try await database.run { connection in
                    if let error = try connection.insert([document], into: collection)[0] { throw error }
                }
            }
        } else {
            try withFile { file in
                let id =
                    switch try BSONFields(document)["_id"] {
                    case .objectID(let id): id.description
                    case .string(let text): text
                    default: ""
                    }
                try file.execute(
                    sql: "INSERT INTO \(collection) (id, document) VALUES (?, ?)", arguments: [id, try document.extendedJSON])
            }
        }
    }

    /// A stored document.
    func document(_ id: ObjectID, in collection: String) async throws -> BSONDocument? {
        if let url {
            return try await withMongoDatabase(url) { database in
                try await database.run { try $0.find(["_id": .objectID(id)], in: collection).first }
            }
        }
        return try withFile { file in
            try String.fetchOne(
                file, sql: "SELECT document FROM \(collection) WHERE id = ?", arguments: [id.description]
            ).map { try BSONDocument(extendedJSON: $0) }
        }
    }

    /// Calls the body with the file, without the layer.
    func withFile<Value>(_ body: (GRDB.Database) throws -> Value) throws -> Value {
        let queue = try DatabaseQueue(path: folder + "/devices.sqlite")
        let value = try queue.write(body)
        try queue.close()
        return value
    }
}

func withMongoDatabase<Value>(
    _ url: String, isolation: isolated (any Actor)? = #isolation, _ body: (MongoDatabase) async throws -> Value
) async throws -> Value {
    let database = await MongoDatabase.open(try MongoURL(url), application: "test", logger: quietLogger)
    do {
        let value = try await body(database)
        await database.close()
        return value
    } catch {
        await database.close()
        throw error
    }
}

/// Runs a test with an empty place.
func withPlace<Value>(
    _ kind: StoreKind, isolation: isolated (any Actor)? = #isolation, _ body: (StorePlace) async throws -> Value
) async throws -> Value {
    try await withTemporaryFolder { folder in
        try await body(StorePlace(kind: kind, folder: folder, url: try await kind.newDatabaseURL()))
    }
}

extension StorePlace {
    /// Runs a part of a test with the open store.
    @discardableResult
    func withStore<Value>(
        _ declaration: StoreDeclaration = Devices.store, logger: Logger = quietLogger,
        now: @escaping @Sendable () -> UnixMilliseconds = { .now }, isolation: isolated (any Actor)? = #isolation,
        _ body: (Storage) async throws -> Value
    ) async throws -> Value {
        let store = try await open(declaration, logger: logger, now: now)
        do {
            let value = try await body(store)
            try await store.close()
            return value
        } catch {
            try await store.close()
            throw error
        }
    }
}

/// Runs a test with an empty store.
func withStore<Value>(
    _ kind: StoreKind, isolation: isolated (any Actor)? = #isolation, _ body: (Storage) async throws -> Value
) async throws -> Value {
    try await withPlace(kind) { place in try await place.withStore { try await body($0) } }
}

/// Runs a test with two instances of an empty store.
func withTwoInstances<Value>(
    _ kind: StoreKind, isolation: isolated (any Actor)? = #isolation, _ body: ([Storage]) async throws -> Value
) async throws -> Value {
    try await withPlace(kind) { place in
        try await place.withStore { one in try await place.withStore { other in try await body([one, other]) } }
    }
}

/// The failure of an operation.
func failure(_ body: () async throws -> some Any) async -> CommandFailure? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as? CommandFailure ?? CommandFailure(.internal, "another error: \(error)")
    }
}
