import Base
import Logging
import Schemas

/// A store in MongoDB.
struct MongoBackend: StorageBackend {
    private let database: MongoDatabase
    private let locks = KeyedLock<String>()
    private let changes: MongoChanges

    /// Connects. While the database is unreachable or the store cannot be prepared there, every operation throws, and the
    /// log has the reason.
    init(_ url: MongoURL, _ store: StoreDeclaration, _ upgrade: SchemaUpgrade, logger: Logger) async {
        database = await MongoDatabase.open(url, application: "msi-\(store.name)", logger: logger) { connection in
            try connection.checkTransactions()
            try Self.prepare(store, upgrade, connection, logger: logger)
        }
        changes = MongoChanges(in: database, logger: logger)
    }

    init(_ database: MongoDatabase, logger: Logger) {
        self.database = database
        changes = MongoChanges(in: database, logger: logger)
    }

    /// Brings the collections and their indexes in line with their declaration.
    ///
    /// - Throws: ``MongoError``; with code `unknownFormat`, and before any change, for a schema that this version does not know.
    static func prepare(
        _ store: StoreDeclaration, _ upgrade: SchemaUpgrade, _ connection: MongoConnection, logger: Logger
    ) throws {
        do {
            let session = MongoSession(connection: connection)
            for collection in store.collections { try StoreRegister.check(collection, in: session, of: "this database") }
        } catch let error as UnknownFormat {
            throw MongoError(error)
        }
        for collection in store.collections {
            let indexes = MongoIndexes(collection: collection, logger: logger)
            try indexes.removeFormer(connection)
            try upgrade.run(collection, in: MongoSession(connection: connection))
            try indexes.make(connection)
        }
    }

    /// Connects without preparing indexes.
    init(_ url: MongoURL, logger: Logger) async {
        database = await MongoDatabase.open(url, application: "msi", logger: logger)
        changes = MongoChanges(in: database, logger: logger)
    }

    func snapshot<Value: Sendable>(_ body: @escaping @Sendable (any DocumentSession) throws -> Value) async throws -> Value {
        try await MongoError.asFailure { try await database.snapshot { try body(MongoSession(connection: $0)) } }
    }

    func read<Value: Sendable>(_ body: @escaping @Sendable (any DocumentSession) throws -> Value) async throws -> Value {
        try await MongoError.asFailure { try await database.run { try body(MongoSession(connection: $0)) } }
    }

    func change<Value: Sendable>(
        _ key: String, _ body: @escaping @Sendable (any DocumentSession) throws -> Value
    ) async throws -> Value {
        // Within one process, changes of the same document wait for each other. Otherwise they would conflict and run again.
        try await locks.take(key) { try await write(body) }
    }

    func write<Value: Sendable>(_ body: @escaping @Sendable (any DocumentSession) throws -> Value) async throws -> Value {
        var backoff = Backoff.contention()
        while true {
            do {
                return try await read(body)
            } catch is Overtaken {
                guard let pause = backoff.nextPause() else {
                    throw CommandFailure(.unavailable, "too many requests change the same document", retryAfter: 2_000)
                }
                try await Task.sleep(for: pause)
            }
        }
    }

    func transaction<Value: Sendable>(_ body: @escaping @Sendable (any DocumentSession) throws -> Value) async throws -> Value {
        try await MongoError.asFailure { try await database.transaction { try body(MongoSession(connection: $0)) } }
    }

    func watch(_ collection: CollectionForm, _ changed: @escaping @Sendable () -> Void) async throws {
        try await MongoError.asFailure { try await changes.watch(collection.name, changed) }
    }

    func check() async throws {
        try await MongoError.asFailure { try await database.run { try $0.ping() } }
    }

    func writeHealth() async -> PartHealth { await database.writeHealth() }

    func size(of store: StoreDeclaration) async throws -> Int64 {
        try await MongoError.asFailure {
            try await database.run { connection in
                try store.collections.reduce(0) { size, collection in
                    let sizes = try BSONFields(connection.read(["collStats": .string(collection.name)]))
                    let used = try ["storageSize", "totalIndexSize"].map { try sizes.optional($0, as: Int64.self) ?? 0 }
                    return try size + used.reduce(0, +) - (sizes.optional("freeStorageSize") ?? 0)
                }
            }
        }
    }

    func diskSpace() async throws -> DiskSpace? {
        try await MongoError.asFailure {
            try await database.run { try $0.diskRoom().map { DiskSpace(free: $0.free, total: $0.total) } }
        }
    }

    func close() async throws { await database.close() }
}
