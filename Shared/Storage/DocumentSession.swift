import MongoDatabase
import Schemas

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

    /// Which of some values a field has in any document, also in an unreadable one.
    func values(of field: FieldForm, among values: [BSONValue], in collection: CollectionForm) throws -> [BSONValue]

    /// The greatest number up to a maximum that identifies a document, also an unreadable one; `nil` if there is none.
    func greatestID(upTo max: Int64, in collection: CollectionForm) throws -> Int64?

    /// Replaces the document that was read.
    ///
    /// - Throws: ``UniqueViolation``; ``Overtaken``.
    func replace(_ read: BSONDocument, by document: BSONDocument, _ id: BSONValue, in collection: CollectionForm) throws

    /// Removes the document that was read.
    ///
    /// - Throws: ``Overtaken``.
    func delete(_ read: BSONDocument, _ id: BSONValue, from collection: CollectionForm) throws

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
    /// Their identifiers, also those of unreadable ones.
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
