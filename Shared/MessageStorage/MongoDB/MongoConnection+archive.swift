import MongoDatabase
import Schemas

/// Changes of archived messages.
extension MongoConnection {
    /// The matching message. Of several with the same key it is always the same one: a readable one with a relay record, and of
    /// those the one that was stored first.
    ///
    /// - Throws: ``BSONError`` if it cannot be read.
    func message(_ filter: BSONDocument) throws -> MessageDocument? {
        let stored = try find(filter, in: MessageCollection.name, options: ["projection": ["words": 0]])
        guard stored.count > 1 else { return try stored.first.map { try MessageDocument($0) } }
        let documents = stored.compactMap { try? MessageDocument($0) }
        return documents.min(by: MessageDocument.comesFirst)
    }

    /// Changes a relay record, unless another process changes it at the same time.
    func update(
        _ msiKey: ObjectID, _ change: (inout RelayRecord, Message) throws -> Void
    ) throws -> RecordUpdate<Message> {
        guard let document = try message(["msi_key": msiKey.bson]) else { return .notFound }
        var message = document.message
        try change(&message.relay, document.message)
        guard let changes = document.changes(to: message.relay) else { return .done(message) }
        let unchanged: BSONDocument = [
            "_id": message.id.bson, "msi_key": msiKey.bson, "relay.revision": document.revision?.bson ?? .null,
        ]
        let update = try update(unchanged, changes, in: MessageCollection.name)
        return update.matched == 1 ? .done(message) : .overtaken
    }

    /// Removes messages, and then pushes.
    ///
    /// - Returns: How many were removed.
    func removeArchived(before moment: UnixMilliseconds, limit: Int) throws -> Int {
        let messages = try removeMessages(before: moment, limit: limit)
        return messages < limit ? try messages + removePushes(before: moment, limit: limit - messages) : messages
    }

    private func removeMessages(before moment: UnixMilliseconds, limit: Int) throws -> Int {
        let old: BSONDocument = [
            "_id": ["$type": "objectId"], "timestamp": ["$lt": moment.bson], "relay.next_attempt": nil,
            "$or": [["relay.ended": nil], ["relay.ended": ["$lt": moment.bson]]],
        ]
        let found = try find(
            old, in: MessageCollection.name,
            options: ["sort": ["timestamp": 1, "msi_key": 1], "limit": .int64(Int64(limit)), "projection": ["_id": 1]])
        let identifiers = try found.map { try BSONFields($0).value("_id", as: ObjectID.self) }
        guard !identifiers.isEmpty else { return 0 }
        // A message that is to be retried by now is kept.
        return Int(
            try delete(["_id": ["$in": identifiers.bson], "relay.next_attempt": nil], from: MessageCollection.name))
    }
}

/// The result of an attempt to change a message or a push.
enum RecordUpdate<Document: Sendable>: Sendable {
    /// The changed document.
    case done(Document)
    /// Another process has changed it since it was read.
    case overtaken
    case notFound
}
