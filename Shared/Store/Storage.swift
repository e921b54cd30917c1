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
    /// How full the store is; it is not measured inside of another store's database.
    private let room: StoreRoom
    private let loops = Mutex<[Task<Void, Never>]>([])

    private static let sweepPeriod = Duration.seconds(60)
    /// One statement about a million documents would hold up all other writes.
    private static let maxPerSweep = 1_000
    private static let sweepPause = Duration.milliseconds(20)
    private static let measurePeriod = Duration.seconds(5)

    /// Opens a store: locks its file, creates what is missing, and upgrades documents of older schemas. The caller closes it.
    ///
    /// - Parameters:
    ///   - limit: How many bytes the store may take up, which may change; `nil` for the whole disk.
    ///   - logger: Logs unreadable documents, outages of MongoDB, and a store that is nearly full.
    ///   - now: The clock by which documents expire.
    /// - Throws: ``CommandFailure`` with status `unavailable` if the file cannot be used, its documents violate a unique index, or it has a schema that
    ///   this version does not know;
    ///   ``StateLockFailure`` while `msi migrate` runs, or after a restore that was interrupted; ``LostStore`` if the file was there before.
    ///   An unreachable MongoDB is no error.
    package static func open(
        _ declaration: StoreDeclaration, at place: StoragePlace, limit: @escaping @Sendable () -> Int64? = { nil },
        logger: Logger, now: @escaping @Sendable () -> UnixMilliseconds = { .now }
    ) async throws -> Storage {
        CounterSegment.unlink()
        let room = StoreRoom(
            StoreRoom.Words(declaration), limit: limit, refusesByDisk: place.database != nil, logger: logger)
        let unreadable = declaration.unreadable(logger)
        let upgrade = SchemaUpgrade(store: declaration.name, unreadable: unreadable)
        let file = "\(declaration.name).sqlite"
        let lock = try StateLock.serving(file, inMongoDB: place.database != nil, stateDirectory: place.folder)
        if let url = place.database {
            let backend = await MongoBackend(url, declaration, upgrade, room: room, logger: logger)
            let storage = Storage(declaration, backend, nil, unreadable, now, room, logger)
            await storage.startMeasuring()
            return storage
        }
        do {
            let backend = try SQLiteBackend(path: "\(place.folder)/\(file)", erases: declaration.erases, room: room)
            do {
                try await backend.prepare(declaration, upgrade)
            } catch {
                try await backend.close()
                throw error
            }
            KnownStores.remember(file, in: place.folder)
            let storage = Storage(declaration, backend, lock, unreadable, now, room, logger)
            await storage.startMeasuring()
            return storage
        } catch {
            lock?.release()
            throw error
        }
    }

    init(
        _ declaration: StoreDeclaration, _ backend: any StorageBackend, _ lock: StateLock?,
        _ unreadable: @escaping @Sendable (String) -> UnreadableDocuments, _ now: @escaping @Sendable () -> UnixMilliseconds,
        _ room: StoreRoom?, _ logger: Logger
    ) {
        self.declaration = declaration
        self.backend = backend
        self.lock = lock
        self.unreadable = unreadable
        self.now = now
        self.logger = logger
        self.room = room ?? StoreRoom(StoreRoom.Words(declaration), limit: { nil }, logger: logger)
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
        loops.withLock { $0.append(task) }
    }

    /// Measures the store now, and then every few seconds.
    private func startMeasuring() async {
        await measure()
        let task = Task { [weak self] in
            while (try? await Task.sleep(untilNext: Self.measurePeriod)) != nil { await self?.measure() }
        }
        loops.withLock { $0.append(task) }
    }

    func measure() async {
        do {
            let (bytes, disk) = try await (size(), diskSpace())
            room.measured(bytes, on: disk)
        } catch {
            // The last measurement counts. Other operations fail as well, and the health says so.
            logger.debug("the size of a store cannot be read", metadata: ["store": "\(declaration.name)", "error": "\(error)"])
        }
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

    package func writeHealth() async -> PartHealth {
        let health = await backend.writeHealth()
        guard health == .ok, let refusal = room.refusal else { return health }
        return PartHealth(refusal.status, refusal.message)
    }

    package var storageHealth: PartHealth {
        let health = backend.storageHealth
        return health == .ok ? room.storageHealth : health
    }

    package var usage: StoreUsage? { room.usage }

    /// Whether nine tenths of its room are used, by the last measurement.
    package var isNearlyFull: Bool { room.isNearlyFull }

    /// The size of the store with its indexes, in bytes, without free pages.
    package func size() async throws -> Int64 { try await backend.size(of: declaration) }

    /// The space on the database's disk; `nil` if it is unknown.
    package func diskSpace() async throws -> DiskSpace? { try await backend.diskSpace() }

    /// Removes expired documents at once, a part at a time, so that other writes have their turn.
    ///
    /// - Returns: The number of removed documents.
    @discardableResult
    package func removeExpired() async throws -> Int {
        let now = now()
        var count = 0
        for collection in declaration.collections {
            guard let expired = collection.expired(at: now) else { continue }
            while true {
                let removed = try await backend.write {
                    try $0.delete(atMost: Self.maxPerSweep, where: expired, from: collection)
                }
                count += removed
                guard removed == Self.maxPerSweep else { break }
                try await Task.sleep(for: Self.sweepPause)
            }
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
        let tasks = loops.withLock(\.self)
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
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
