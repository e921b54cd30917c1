import MongoDatabase
import Schemas

/// Pushes, and changes of them.
extension MongoConnection {
    /// - Throws: ``CommandFailure`` with status `conflict` if it cannot be read.
    func push(_ filter: BSONDocument) throws -> PushDocument? {
        try find(filter, in: PushCollection.name, options: ["limit": .int64(1)]).first?.readable("push", as: PushDocument.init)
    }

    /// Changes a record, unless another process changes it at the same time.
    func update(
        push id: ObjectID, _ change: (inout PushRecord, Push) throws -> Void
    ) throws -> RecordUpdate<Push> {
        guard let document = try push(["_id": id.bson]) else { return .notFound }
        var push = document.push
        try change(&push.relay, document.push)
        guard let changes = push.relay.changes(from: document.push.relay) else { return .done(push) }
        let update = try update(
            ["_id": id.bson, "relay.revision": document.revision.bson], changes, in: PushCollection.name)
        return update.matched == 1 ? .done(push) : .overtaken
    }

    /// - Returns: The number of removed pushes.
    func removePushes(before moment: UnixMilliseconds, limit: Int) throws -> Int {
        let old: BSONDocument = [
            "logged": ["$lt": moment.bson], "relay.next_attempt": nil,
            "$or": [["relay.ended": nil], ["relay.ended": ["$lt": moment.bson]]],
        ]
        let found = try find(
            old, in: PushCollection.name,
            options: ["sort": ["logged": 1], "limit": .int64(Int64(limit)), "projection": ["_id": 1]])
        let identifiers = try found.map { try BSONFields($0).value("_id", as: ObjectID.self) }
        guard !identifiers.isEmpty else { return 0 }
        // A push that is to be retried by now is kept.
        return Int(try delete(["_id": ["$in": identifiers.bson], "relay.next_attempt": nil], from: PushCollection.name))
    }
}
