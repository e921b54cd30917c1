import MongoDatabase

/// What the layer stores in a document beside the document's own fields.
enum Envelope {
    static let identifier = "_id"
    /// Counts the document's changes, from 1; absent in documents of other programs.
    static let revision = "_revision"
    /// The schema of the document; absent in those of schema 1.
    static let schema = "_schema"

    /// Why what is stored is no document at all, in what a session reads in its place.
    static let unreadable = "_unreadable"

    static func revision(of document: BSONDocument) throws -> Int64? {
        try BSONFields(document).optional(revision)
    }

    /// - Throws: ``BSONError`` for what is no document.
    static func schema(of document: BSONDocument) throws -> Int64 {
        let fields = try BSONFields(document)
        if let reason: String = try fields.optional(unreadable) { throw BSONError(reason) }
        return try fields.optional(schema) ?? 1
    }
}
