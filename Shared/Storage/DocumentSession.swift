import MongoDatabase
import Schemas

/// What a database does for the layer, on the thread of one operation. Everything here blocks.
protocol DocumentSession {
    /// Whether it can go on after a ``UniqueViolation``: MongoDB ends a transaction with it.
    var survivesViolation: Bool { get }

    func find(_ selection: Selection) throws -> [BSONDocument]

    /// - Throws: ``UniqueViolation``.
    func insert(_ document: BSONDocument, _ id: BSONValue, into collection: CollectionForm) throws

    /// Puts a document in the place of the one that was read.
    ///
    /// - Throws: ``UniqueViolation``; ``Overtaken``.
    func replace(_ read: BSONDocument, by document: BSONDocument, _ id: BSONValue, in collection: CollectionForm) throws

    /// Removes the document that was read.
    ///
    /// - Throws: ``Overtaken``.
    func delete(_ read: BSONDocument, _ id: BSONValue, from collection: CollectionForm) throws

    /// Removes every document that a predicate is true of.
    ///
    /// - Returns: How many there were.
    func delete(where predicate: Predicate, from collection: CollectionForm) throws -> Int

    /// All documents in the order of `_id`, of whatever type that is, page by page.
    func scan(_ collection: String, after id: BSONValue?, limit: Int) throws -> [BSONDocument]
}

/// A unique index, or `_id`, has an entry like that already.
struct UniqueViolation: Error {
    /// The index's name.
    let index: String
}

/// Another instance has changed or removed the document since it was read.
struct Overtaken: Error {}
