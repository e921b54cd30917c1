package import DurableFiles
import EmbeddedDatabase
package import Logging
import MongoDatabase
package import Schemas
import Synchronization
import UnreadableDocuments

/// An open store: the operations on its collections, the same for both databases.
///
/// Every method throws ``CommandFailure``: `unavailable` while the database is unreachable, `storage_full` for a write without
/// room on the disk, and the failures of the same method of ``Transaction``.
package final class Storage: CheckedStore {
    private let declaration: StoreDeclaration
    private let backend: any StorageBackend
    private let lock: StateLock?
    private let unreadable: @Sendable (String) -> UnreadableDocuments
    private let now: @Sendable () -> UnixMilliseconds
    private let logger: Logger
    private let sweep = Mutex<Task<Void, Never>?>(nil)

    private static let sweepPeriod = Duration.seconds(60)

    /// Opens a store: locks its file, creates what is missing, and upgrades documents of older schemas. The caller closes it.
    ///
    /// - Parameters:
    ///   - logger: Logs unreadable documents, and outages of MongoDB.
    ///   - now: The clock by which documents expire.
    /// - Throws: ``CommandFailure`` with status `unavailable` if the file cannot be used or its documents violate a unique index;
    ///   ``StateLockFailure`` while `msi migrate` runs, or after a restore that was interrupted; ``LostStore`` if the file was there before.
    ///   An unreachable MongoDB is no error.
    package static func open(
        _ declaration: StoreDeclaration, at place: StoragePlace, logger: Logger,
        now: @escaping @Sendable () -> UnixMilliseconds = { .now }
    ) async throws -> Storage {
        CounterSegment.unlink()
        let kinds = Dictionary(
            uniqueKeysWithValues: declaration.collections.map {
                ($0.name, UnreadableDocuments(of: $0.name, .skipped, logger: logger))
            })
        let unreadable: @Sendable (String) -> UnreadableDocuments = { name in
            guard let kind = kinds[name] else { preconditionFailure("the store \(declaration.name) has no collection \(name)") }
            return kind
        }
        let upgrade = SchemaUpgrade(store: declaration.name, unreadable: unreadable)
        let file = "\(declaration.name).sqlite"
        let lock = try StateLock.serving(file, inMongoDB: place.database != nil, stateDirectory: place.folder)
        if let url = place.database {
            let backend = await MongoBackend(url, declaration, upgrade, logger: logger)
            return Storage(declaration, backend, nil, unreadable, now, logger)
        }
        do {
            let backend = try SQLiteBackend(path: "\(place.folder)/\(file)")
            do {
                try await backend.prepare(declaration, upgrade)
            } catch {
                try await backend.close()
                throw error
            }
            KnownStores.remember(file, in: place.folder)
            return Storage(declaration, backend, lock, unreadable, now, logger)
        } catch {
            lock?.release()
            throw error
        }
    }

    private init(
        _ declaration: StoreDeclaration, _ backend: any StorageBackend, _ lock: StateLock?,
        _ unreadable: @escaping @Sendable (String) -> UnreadableDocuments, _ now: @escaping @Sendable () -> UnixMilliseconds,
        _ logger: Logger
    ) {
        self.declaration = declaration
        self.backend = backend
        self.lock = lock
        self.unreadable = unreadable
        self.now = now
        self.logger = logger
        guard declaration.collections.contains(where: { $0.expiry != nil }) else { return }
        let task = Task { [weak self] in
            while !Task.isCancelled {
                do {
                    try await Task.sleep(for: Self.sweepPeriod)
                    try await self?.removeExpired()
                } catch {
                    // Reads leave them out anyway. The next round tries again.
                    logger.debug("expired documents stay for now", metadata: ["error": "\(error)"])
                }
            }
        }
        sweep.withLock { $0 = task }
    }

    /// The revision of the content, for what is read repeatedly; `nil` with MongoDB.
    var revision: DatabaseRevision? { backend.revision }

    // MARK: One document or page

    /// Reads a document; as ``Transaction/get(_:from:)``.
    package func get<Document>(_ id: Document.ID, from collection: Collection<Document>) async throws -> Stored<Document>? {
        try await read { try $0.get(id, from: collection) }
    }

    /// Reads a page of a query; as ``Transaction/page(of:_:after:limit:)``.
    package func page<Document>(
        of collection: Collection<Document>, _ query: Query<Document> = Query(), after cursor: Cursor? = nil, limit: Int
    ) async throws -> Page<Document> {
        try await read { try $0.page(of: collection, query, after: cursor, limit: limit) }
    }

    /// Stores a new document durably.
    @discardableResult
    package func insert<Document>(
        _ document: Document, into collection: Collection<Document>
    ) async throws -> Stored<Document> {
        try await write { try $0.insert(document, into: collection) }
    }

    /// - Parameter change: A pure function of the document: it may run more than once.
    @discardableResult
    package func update<Document>(
        _ id: Document.ID, in collection: Collection<Document>, unchangedSince revision: Revision? = nil,
        _ change: @escaping @Sendable (inout Document) throws -> Void
    ) async throws -> Stored<Document> {
        try await backend.change("\(collection.name) \(id)") { [self] in
            try transaction($0).update(id, in: collection, unchangedSince: revision, change)
        }
    }

    @discardableResult
    package func delete<Document>(
        _ id: Document.ID, from collection: Collection<Document>, unchangedSince revision: Revision? = nil
    ) async throws -> Document {
        try await backend.change("\(collection.name) \(id)") { [self] in
            try transaction($0).delete(id, from: collection, unchangedSince: revision)
        }
    }

    // MARK: Several at once

    /// Reads several documents from one snapshot.
    package func snapshot<Value: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws -> Value
    ) async throws -> Value {
        try await backend.snapshot { [self] in try body(transaction($0)) }
    }

    /// Changes several documents, in any collections of the store, all or none. It reads from one snapshot.
    ///
    /// - Parameter body: May run more than once, so it must have no other effects. If it throws, all changes are undone.
    package func transaction<Value: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws -> Value
    ) async throws -> Value {
        try await backend.transaction { [self] in try body(transaction($0)) }
    }

    // MARK: The whole store

    /// Throws if a small read fails.
    package func check() async throws { try await backend.check() }

    package func writeHealth() async -> PartHealth { await backend.writeHealth() }

    package var storageHealth: PartHealth { backend.storageHealth }

    /// The size of the store with its indexes, in bytes, without free pages.
    package func size() async throws -> Int64 { try await backend.size(of: declaration) }

    /// The space on the database's disk; `nil` if it is unknown.
    package func diskSpace() async throws -> DiskSpace? { try await backend.diskSpace() }

    /// Removes expired documents at once.
    ///
    /// - Returns: The number of removed documents.
    @discardableResult
    package func removeExpired() async throws -> Int {
        let now = now()
        var count = 0
        for collection in declaration.collections {
            guard let expired = collection.expired(at: now) else { continue }
            count += try await backend.write { try $0.delete(where: expired, from: collection) }
        }
        return count
    }

    /// Finishes running operations and closes the database. The store cannot be used afterwards.
    package func close() async throws {
        let task = sweep.withLock { $0 }
        task?.cancel()
        await task?.value
        try await backend.close()
        lock?.release()
    }

    private func read<Value: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> Value) async throws -> Value {
        try await backend.read { [self] in try body(transaction($0)) }
    }

    private func write<Value: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> Value) async throws -> Value {
        try await backend.write { [self] in try body(transaction($0)) }
    }

    private func transaction(_ session: any DocumentSession) -> Transaction {
        Transaction(session: session, unreadable: unreadable, now: now())
    }
}
