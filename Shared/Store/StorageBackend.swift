import Base
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

    /// As ``Storage/watch(_:_:)``.
    func watch(_ collection: CollectionForm, _ changed: @escaping @Sendable () -> Void) async throws

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

    /// As ``Storage/removeTraces()``.
    func removeTraces() async throws

    func close() async throws
}

/// The times of ``StorageBackend/watch(_:_:)``.
enum WatchTimes {
    /// Of one change stream, or until the next attempt to open one.
    static let duration = Duration.seconds(30)
    /// The interval of looks at a database that does not announce changes.
    static let pollPeriod = Duration.seconds(1)
}

extension StorageBackend {
    var revision: DatabaseRevision? { nil }

    var storageHealth: PartHealth { .ok }

    func removeTraces() async throws {}

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

/// A database's operations on documents, on the thread of one operation. All of them block.
protocol DocumentSession {
    /// Whether the session is usable after a ``UniqueViolation``, which ends a transaction of MongoDB.
    var survivesViolation: Bool { get }

    func find(_ selection: Selection) throws -> [BSONDocument]

    /// - Throws: ``UniqueViolation``.
    func insert(_ document: BSONDocument, _ id: BSONValue, into collection: CollectionForm) throws

    /// Inserts documents, with one command if the database has one.
    ///
    /// - Throws: ``UniqueViolation``.
    func insert(_ documents: [(BSONDocument, id: BSONValue)], into collection: CollectionForm) throws

    /// Which of some values a field has in any document, including unreadable ones.
    func values(of field: FieldForm, among values: [BSONValue], in collection: CollectionForm) throws -> [BSONValue]

    /// The greatest number up to a maximum that identifies a document, including unreadable ones; `nil` if there is none.
    func greatestID(upTo max: Int64, in collection: CollectionForm) throws -> Int64?

    /// - Throws: ``CommandFailure`` with status `storage_full` while the disk has only its reserve.
    func requireRoom() throws

    /// Replaces the document that was read.
    ///
    /// - Throws: ``UniqueViolation``; ``Overtaken``.
    func replace(_ read: BSONDocument, by document: BSONDocument, _ id: BSONValue, in collection: CollectionForm) throws

    /// Removes the document that was read.
    ///
    /// - Throws: ``Overtaken``.
    func delete(_ read: BSONDocument, _ id: BSONValue, from collection: CollectionForm) throws

    /// Removes the documents that exist, at any revision.
    func delete(_ ids: [BSONValue], from collection: CollectionForm) throws

    /// The number of documents, including expired and unreadable ones, up to a maximum.
    func count(_ collection: CollectionForm, upTo max: Int) throws -> Int

    /// Removes all documents that match a predicate.
    ///
    /// - Returns: The number of removed documents.
    func delete(where predicate: Predicate, from collection: CollectionForm) throws -> Int

    /// Reads a collection page by page, in the order of its identifiers, which may be of any type.
    ///
    /// - Parameter id: The ``ScannedPage/last`` of the page before; `nil` for the first page.
    func scan(_ collection: String, after id: BSONValue?, limit: Int) throws -> ScannedPage
}

/// A page of a collection's documents.
struct ScannedPage {
    /// A row that is no document is represented by a document with ``Envelope/unreadable``.
    let documents: [BSONDocument]
    /// Their identifiers, including those of unreadable ones.
    let identifiers: [BSONValue]

    /// The identifier of the last document; `nil` if there are no more documents.
    var last: BSONValue? { identifiers.last }
}

/// A unique index, or `_id`, already has such an entry.
struct UniqueViolation: Error {
    /// The index's name.
    let index: String
}

/// Another instance has changed or removed the document since it was read.
struct Overtaken: Error {}
