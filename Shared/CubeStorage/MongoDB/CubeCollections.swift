import MongoDatabase
import Schemas

/// The cube's collections: `icube`, with a document for each channel (seed, "Schema"); `cube`, with one document that counts
/// the changes; and `cube_audit`, with the entries that the audit log has not acknowledged.
enum CubeCollections {
    static let channels = "icube"
    static let cube = "cube"
    static let audit = "cube_audit"

    /// The only document of `cube`.
    static let counter: BSONDocument = ["_id": "cube"]

    /// Checks that the server has transactions, creates the counter and the collection for the audit log.
    ///
    /// - Throws: ``MongoError`` with code `unsuitable` if the server has no transactions.
    static func prepare(_ connection: MongoConnection) throws {
        try connection.checkTransactions()
        _ = try connection.update(
            counter, ["$setOnInsert": ["version": CubeVersion.initial.bson]], in: cube, options: ["upsert": true])
        // Makes the collection, so that no transaction has to.
        _ = try connection.write([
            "createIndexes": .string(audit), "indexes": [["name": "_id_", "key": ["_id": 1]]],
        ])
    }
}
