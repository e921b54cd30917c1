import DurableFiles
import EmbeddedDatabase
import Schemas

/// SQLite or MongoDB, opened for a store.
protocol StorageBackend: Sendable {
    /// Reads from one snapshot, concurrently with writers.
    func snapshot<Value: Sendable>(_ body: @escaping @Sendable (any DocumentSession) throws -> Value) async throws -> Value

    func read<Value: Sendable>(_ body: @escaping @Sendable (any DocumentSession) throws -> Value) async throws -> Value

    /// One change of one document.
    ///
    /// - Parameter body: May run more than once.
    func write<Value: Sendable>(_ body: @escaping @Sendable (any DocumentSession) throws -> Value) async throws -> Value

    /// One change of a document that is there.
    ///
    /// - Parameters:
    ///   - key: A key that no other document has.
    ///   - body: May run more than once.
    func change<Value: Sendable>(
        _ key: String, _ body: @escaping @Sendable (any DocumentSession) throws -> Value
    ) async throws -> Value

    /// Several changes, all or none.
    ///
    /// - Parameter body: May run more than once.
    func transaction<Value: Sendable>(_ body: @escaping @Sendable (any DocumentSession) throws -> Value) async throws -> Value

    /// The revision of the content; `nil` if the database does not tell.
    var revision: DatabaseRevision? { get }

    /// Throws if a small read fails.
    func check() async throws

    /// As ``CheckedStore/writeHealth()``.
    func writeHealth() async -> PartHealth

    /// As ``CheckedStore/storageHealth``.
    var storageHealth: PartHealth { get }

    /// The size of the store's collections, in bytes.
    func size(of store: StoreDeclaration) async throws -> Int64

    func diskSpace() async throws -> DiskSpace?

    func close() async throws
}

extension StorageBackend {
    var revision: DatabaseRevision? { nil }

    var storageHealth: PartHealth { .ok }

    func snapshot<Value: Sendable>(_ body: @escaping @Sendable (any DocumentSession) throws -> Value) async throws -> Value {
        try await read(body)
    }

    func change<Value: Sendable>(
        _ key: String, _ body: @escaping @Sendable (any DocumentSession) throws -> Value
    ) async throws -> Value {
        try await write(body)
    }

    func transaction<Value: Sendable>(_ body: @escaping @Sendable (any DocumentSession) throws -> Value) async throws -> Value {
        try await write(body)
    }
}
