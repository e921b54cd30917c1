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
        let hello = try BSONFields(connection.read(["hello": 1], in: "admin"))
        let isReplicaSet = try hello.optional("setName", as: String.self) != nil
        let isSharded = try hello.optional("msg", as: String.self) == "isdbgrid"
        guard isReplicaSet || isSharded else {
            throw MongoError(
                .unsuitable,
                "the server stands alone, and has no transactions; make it a replica set, which may have one member")
        }
        _ = try connection.update(counter, ["$setOnInsert": ["version": .int64(0)]], in: cube, options: ["upsert": true])
    }
}
