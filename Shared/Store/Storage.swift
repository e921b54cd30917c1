package import Base
package import Logging
package import Schemas
import Synchronization

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
    /// - Throws: ``CommandFailure`` with status `unavailable` if the file cannot be used, its documents violate a unique index, or it has a schema that
    ///   this version does not know;
    ///   ``StateLockFailure`` while `msi migrate` runs, or after a restore that was interrupted; ``LostStore`` if the file was there before.
    ///   An unreachable MongoDB is no error.
    package static func open(
        _ declaration: StoreDeclaration, at place: StoragePlace, logger: Logger,
        now: @escaping @Sendable () -> UnixMilliseconds = { .now }
    ) async throws -> Storage {
        CounterSegment.unlink()
        let unreadable = declaration.unreadable(logger)
        let upgrade = SchemaUpgrade(store: declaration.name, unreadable: unreadable)
        let file = "\(declaration.name).sqlite"
        let lock = try StateLock.serving(file, inMongoDB: place.database != nil, stateDirectory: place.folder)
        if let url = place.database {
            let backend = await MongoBackend(url, declaration, upgrade, logger: logger)
            return Storage(declaration, backend, nil, unreadable, now, logger)
        }
        do {
            let backend = try SQLiteBackend(path: "\(place.folder)/\(file)", erases: declaration.erases)
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

    init(
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

    /// The queue's collections of an audited store.
    var auditCollections: AuditCollections {
        guard let audit = declaration.audit else { preconditionFailure("the store \(declaration.name) is not audited") }
        return audit
    }

    // MARK: One document or page

    /// Reads a document; as ``Transaction/get(_:from:)``.
    package func get<Document>(_ id: Document.ID, from collection: Collection<Document>) async throws -> Stored<Document>? {
        try await read { try $0.get(id, from: collection) }
    }

    /// Reads several documents; as ``Transaction/get(all:from:)``.
    package func get<Document>(all ids: [ObjectID], from collection: Collection<Document>) async throws -> [Stored<Document>]
    where Document.ID == ObjectID {
        try await read { try $0.get(all: ids, from: collection) }
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

    /// Removes those documents that are there.
    func delete<Document>(_ ids: [Document.ID], from collection: Collection<Document>) async throws {
        try await write { try $0.delete(ids, from: collection) }
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

    /// Calls a function at once, and whenever another program may have changed a collection. Ends after half a minute or later, with SQLite
    /// only when it is cancelled; call it again then.
    ///
    /// - Parameter changed: Must return quickly. With MongoDB it is called after changes by this program too.
    package func watch<Document>(
        _ collection: Collection<Document>, _ changed: @escaping @Sendable () -> Void
    ) async throws {
        try await backend.watch(collection.form, changed)
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

    /// Removes the traces of removed and changed documents from the files of a store that `erases`. With MongoDB it does nothing: the server
    /// overwrites its files in its own time.
    ///
    /// - Throws: ``CommandFailure`` with status `unavailable` while another read or process needs the write-ahead log. Try again later.
    package func removeTraces() async throws {
        precondition(declaration.erases, "the store \(declaration.name) does not erase")
        try await backend.removeTraces()
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
        Transaction(session: session, unreadable: unreadable, now: now(), audit: declaration.audit)
    }
}

extension StoreDeclaration {
    /// Reports the unreadable documents of each collection.
    func unreadable(_ logger: Logger) -> @Sendable (String) -> UnreadableDocuments {
        let kinds = Dictionary(
            uniqueKeysWithValues: collections.map { ($0.name, UnreadableDocuments(of: $0.kind, .skipped, logger: logger)) })
        return { [name] collection in
            guard let kind = kinds[collection] else { preconditionFailure("the store \(name) has no collection \(collection)") }
            return kind
        }
    }
}

/// Where a service keeps its stores.
package struct StoragePlace: Sendable {
    let database: MongoURL?
    let folder: String

    /// Whether the stores are SQLite files.
    package var isFolder: Bool { database == nil }

    /// - Parameters:
    ///   - database: MongoDB; `nil` for SQLite files.
    ///   - folder: The folder of these files.
    package init(database: MongoURL?, folder: String) {
        self.database = database
        self.folder = folder
    }
}

/// Repeated reads, such as once a second. The database is only read if it may have changed. MongoDB does not tell, so there every call
/// reads.
extension Storage {
    /// Whether repeated reads cost nothing while nothing changes.
    package var tellsChanges: Bool { revision != nil }

    /// - Returns: A function that reads from one snapshot.
    package func repeatedSnapshot<Value: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws -> Value
    ) -> @Sendable () async throws -> Value {
        let last = RepeatedRead<Value>()
        return { try await last.value(at: self.revision) { try await self.snapshot(body) } }
    }

    /// - Returns: A function that reads the first documents of a query.
    package func repeatedPage<Document>(
        of collection: Collection<Document>, _ query: Query<Document>, limit: Int
    ) -> @Sendable () async throws -> [Document] {
        let last = RepeatedRead<[Document]>()
        return {
            try await last.value(at: self.revision) {
                try await self.page(of: collection, query, limit: limit).documents.map(\.document)
            }
        }
    }
}
