package import Logging
package import MongoDatabase
package import UnreadableDocuments

/// Opens the archive: in MongoDB if there is a connection string, otherwise in a SQLite file.
///
/// - Parameters:
///   - folder: The folder of the file.
///   - maxPageTime: If a page from the file takes longer, with the wait for a reader, it fails with `deadline_exceeded`; `nil`
///     for no limit. The connections to MongoDB have a limit of their own.
///   - unreadable: How documents and rows that are no messages are treated.
///   - logger: Gets lines about these, and about outages of MongoDB.
/// - Throws: ``CommandFailure`` with status `unavailable` if the file cannot be used. MongoDB may be unreachable.
package func openMessageStore(
    database: MongoURL?, folder: String, maxPageTime: Duration? = nil, unreadable: UnreadableDocument = .skipped, logger: Logger
) async throws -> any MessageStore {
    CounterSegment.unlink()
    if let database { return await MongoMessageStore(url: database, unreadable: unreadable, logger: logger) }
    return try SQLiteMessageStore(
        path: folder + "/message-log.sqlite", maxPageTime: maxPageTime, unreadable: unreadable, logger: logger)
}
