import MongoDatabase
import Schemas

/// The `push` collection and its indexes. Its `_id` is the push's id.
enum PushCollection {
    static let name = "push"

    /// Creates missing indexes, and removes the former one.
    static func prepare(_ connection: MongoConnection) throws {
        let indexes: [BSONDocument] =
            [
                ["name": "idempotency", "key": ["sender": 1, "idempotency_key": 1], "unique": true],
                ["name": "time", "key": ["logged": 1]],
            ] + OutboxCollection.pushes.indexes
        _ = try connection.write([
            "createIndexes": .string(name), "indexes": .array(indexes.map { .document($0) }),
        ])
        try removeFormerIndex(connection)
    }

    /// The index that `due by time` has replaced.
    private static let formerIndex = "due"

    private static func removeFormerIndex(_ connection: MongoConnection) throws {
        let reply = try BSONFields(connection.read(["listIndexes": .string(name)]))
        let names = try reply.fields("cursor").list("firstBatch").map { try $0.optional("name", as: String.self) }
        guard names.contains(formerIndex) else { return }
        _ = try connection.write(["dropIndexes": .string(name), "index": .string(formerIndex)])
    }
}
