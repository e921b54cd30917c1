package import Logging
package import MongoDatabase
package import UnreadableDocuments

/// Opens the store of the cube: in MongoDB where a connection string is given, otherwise in a SQLite file of its own.
///
/// - Parameters:
///   - folder: Where the file is, or will be.
///   - sizeLimit: How large changes may make the cube.
///   - unreadable: What a snapshot does with documents and rows that cannot be read, and with parts of them.
///   - logger: Told of these, and when MongoDB goes away and comes back.
/// - Throws: ``CommandFailure`` with status `unavailable` when the file cannot be used. MongoDB may be away.
package func openCubeStore(
    database: MongoURL?, folder: String, sizeLimit: CubeSizeLimit, unreadable: UnreadableDocument = .skipped, logger: Logger
) async throws -> any CubeStore {
    CounterSegment.unlink()
    if let database {
        return await MongoCubeStore(url: database, sizeLimit: sizeLimit, unreadable: unreadable, logger: logger)
    }
    return try SQLiteCubeStore(
        path: folder + "/cube.sqlite", sizeLimit: sizeLimit, unreadable: unreadable, logger: logger)
}
