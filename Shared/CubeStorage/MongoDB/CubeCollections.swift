import MongoDatabase
import Schemas

/// The cube's collections: `icube`, with a document for each channel (seed, "Schema"), and `cube`, with one document that counts
/// the changes.
enum CubeCollections {
    static let channels = "icube"
    static let cube = "cube"

    /// The only document of `cube`.
    static let counter: BSONDocument = ["_id": "cube"]

    /// Checks that the server has transactions, and creates the counter.
    ///
    /// - Throws: ``MongoError`` with code `unsuitable` if the server has no transactions.
    static func prepare(_ connection: MongoConnection) throws {
        try connection.checkTransactions()
        _ = try connection.update(
            counter, ["$setOnInsert": ["version": CubeVersion.initial.bson]], in: cube, options: ["upsert": true])
    }
}
