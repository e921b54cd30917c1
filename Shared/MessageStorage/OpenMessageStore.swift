package import Logging
package import MongoDatabase

/// Opens the archive: in MongoDB where a connection string is given, otherwise in a SQLite file of its own.
///
/// - Parameters:
///   - folder: Where the file is, or will be.
///   - logger: Told when MongoDB goes away and comes back.
/// - Throws: ``CommandFailure`` with status `unavailable` when the file cannot be used. MongoDB may be away.
package func openMessageStore(database: MongoURL?, folder: String, logger: Logger) async throws -> any MessageStore {
    if let database { return await MongoMessageStore(url: database, logger: logger) }
    return try SQLiteMessageStore(path: folder + "/message-log.sqlite")
}
