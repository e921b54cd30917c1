package import Logging
package import MongoDatabase
package import UnreadableDocuments

/// Opens the store of the cube: in MongoDB if there is a connection string, otherwise in a SQLite file.
///
/// - Parameters:
///   - folder: The folder of the file.
///   - sizeLimit: The maximum size of the cube after a change.
///   - unreadable: How a snapshot treats unreadable documents, rows and parts of them.
///   - logger: Gets lines about these, and about outages of MongoDB.
/// - Throws: ``CommandFailure`` with status `unavailable` if the file cannot be used. MongoDB may be unreachable.
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
