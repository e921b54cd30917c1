import Base
import GRDB
import Schemas

/// A store in a SQLite file.
struct SQLiteBackend: StorageBackend {
    private let database: EmbeddedDatabase

    init(_ database: EmbeddedDatabase) {
        self.database = database
    }

    /// - Parameter erases: Whether SQLite overwrites what is removed.
    /// - Throws: ``CommandFailure`` with status `unavailable` if the file cannot be used.
    init(path: String, erases: Bool = false) throws {
        database = try EmbeddedDatabase(path: path, durability: .everyCommit, erases: erases) { _ in }
    }

    /// Whether a file has collections. Does not change the file.
    static func hasCollections(_ path: String) throws -> Bool {
        var configuration = Configuration()
        configuration.readonly = true
        let file = try DatabaseQueue(path: path, configuration: configuration)
        let isStore = try file.read { try $0.tableExists(StoreRegister.name) }
        try file.close()
        return isStore
    }

    func prepare(_ store: StoreDeclaration, _ upgrade: SchemaUpgrade) async throws {
        try await database.changeTables { database in
            try CollectionTables.prepare(store, in: database) { try upgrade.run($0, in: $1) }
        }
    }

    /// Creates the tables of collections without their indexes. Opening the store adds these.
    func make(_ collections: [String]) async throws {
        try await database.changeTables { database in
            for name in collections { try CollectionTables.create(name, in: database) }
        }
    }

    /// Whether the table of a collection exists.
    func has(_ collection: String) async throws -> Bool {
        try await database.read { try $0.tableExists(collection) }
    }

    func read<Value: Sendable>(_ body: @escaping @Sendable (any DocumentSession) throws -> Value) async throws -> Value {
        try await database.read { try body(SQLiteSession(database: $0)) }
    }

    func write<Value: Sendable>(_ body: @escaping @Sendable (any DocumentSession) throws -> Value) async throws -> Value {
        try await database.write { [database] connection in
            try body(SQLiteSession(database: connection, checkRoom: database.checkRoom))
        }
    }

    func watch(_ collection: CollectionForm, _ changed: @escaping @Sendable () -> Void) async throws {
        let last = RepeatedRead<Int64>()
        var known: Int64?
        while true {
            let version = try await last.value(at: database.revision) { try await otherCommits() }
            if version != known { changed() }
            known = version
            try await Task.sleep(untilNext: WatchTimes.pollPeriod)
        }
    }

    /// A number that changes when another process has committed. Only the connection that writes does not count its own commits.
    private func otherCommits() async throws -> Int64 {
        try await database.write { try Int64.fetchOne($0, sql: "PRAGMA data_version") ?? 0 }
    }

    func check() async throws {
        _ = try await database.read { try Int64.fetchOne($0, sql: "SELECT 1 FROM \(StoreRegister.name) LIMIT 1") }
    }

    func writeHealth() async -> PartHealth { await database.writeHealth() }

    var storageHealth: PartHealth { database.storageHealth }

    func size(of store: StoreDeclaration) async throws -> Int64 { try await database.size() }

    func diskSpace() async throws -> DiskSpace? { try database.diskSpace }

    func removeTraces() async throws { try await database.emptyLog() }

    var revision: DatabaseRevision? { database.revision }

    func close() async throws { try database.close() }
}
