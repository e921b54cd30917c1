import MongoDatabase
import Schemas

/// The `push` collection and its indexes. Its `_id` is the push's id.
enum PushCollection {
    static let name = "push"

    /// Creates missing indexes.
    static func prepare(_ connection: MongoConnection) throws {
        let indexes: [BSONDocument] =
            [
                ["name": "idempotency", "key": ["sender": 1, "idempotency_key": 1], "unique": true],
                ["name": "time", "key": ["logged": 1]],
            ] + OutboxCollection.pushes.indexes
        _ = try connection.write([
            "createIndexes": .string(name), "indexes": .array(indexes.map { .document($0) }),
        ])
    }
}
