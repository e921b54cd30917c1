import MongoDatabase
import Schemas

/// The layer's own fields in a stored document.
enum Envelope {
    static let identifier = "_id"
    /// The number of the document's changes, from 1; absent in documents of other programs.
    static let revision = "_revision"
    /// The document's schema; absent in schema 1.
    static let schema = "_schema"

    /// Why a stored row is not a document. Sessions return this field in its place.
    static let unreadable = "_unreadable"

    static func revision(of document: BSONDocument) throws -> Revision? {
        try BSONFields(document).optional(revision)
    }

    /// - Throws: ``BSONError`` if the stored row is not a document.
    static func schema(of document: BSONDocument) throws -> Int64 {
        let fields = try BSONFields(document)
        if let reason: String = try fields.optional(unreadable) { throw BSONError(reason) }
        return try fields.optional(schema) ?? 1
    }
}

extension Revision: BSONConvertible {}
