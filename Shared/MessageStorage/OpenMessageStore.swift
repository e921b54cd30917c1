package import Logging
package import MongoDatabase
package import UnreadableDocuments

/// Opens the archive: in MongoDB where a connection string is given, otherwise in a SQLite file of its own.
///
/// - Parameters:
///   - folder: Where the file is, or will be.
///   - unreadable: What becomes of documents and rows that are no messages.
///   - logger: Told of these, and when MongoDB goes away and comes back.
/// - Throws: ``CommandFailure`` with status `unavailable` when the file cannot be used. MongoDB may be away.
package func openMessageStore(
    database: MongoURL?, folder: String, unreadable: UnreadableDocument = .skipped, logger: Logger
) async throws -> any MessageStore {
    CounterSegment.unlink()
    if let database { return await MongoMessageStore(url: database, unreadable: unreadable, logger: logger) }
    return try SQLiteMessageStore(path: folder + "/message-log.sqlite", unreadable: unreadable, logger: logger)
}
