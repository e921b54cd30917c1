import Store
import Schemas

/// Changes of archived messages.
extension MongoConnection {
    /// The matching message. Of several with the same key it is always the same one: a readable one with a relay record, and of
    /// those the one that was stored first.
    ///
    /// - Throws: ``CommandFailure`` with status `conflict` if it cannot be read.
    func message(_ filter: BSONDocument) throws -> MessageDocument? {
        let stored = try find(filter, in: MessageCollection.name, options: ["projection": MessageCollection.withoutWords])
        let documents = stored.compactMap { try? MessageDocument($0) }
        guard documents.isEmpty, let first = stored.first else { return documents.min(by: MessageDocument.comesFirst) }
        return try first.readable("message", as: MessageDocument.init)
    }

    /// The newest follow-ups of messages, oldest first.
    func followUps(of msiKeys: [ObjectID]) throws -> [ObjectID: [FollowUp]] {
        // Most messages have none: one search finds those that do.
        let followed = try aggregate(
            [["$match": ["follows": ["$in": msiKeys.bson]]], ["$group": ["_id": "$follows"]]], in: MessageCollection.name)
        var followUps: [ObjectID: [FollowUp]] = [:]
        for group in followed {
            let key = try BSONFields(group).value("_id", as: ObjectID.self)
            let found = try find(
                ["follows": key.bson, "msi_key": ["$type": "objectId"], "topic_key": ["$type": "string"]],
                in: MessageCollection.name,
                options: [
                    "sort": MessageCollection.order, "limit": .int64(Int64(maxFollowUps)),
                    "projection": ["msi_key": 1, "topic_key": 1],
                ])
            followUps[key] = try found.reversed().map { document in
                let fields = try BSONFields(document)
                return FollowUp(msiKey: try fields.value("msi_key"), topicKey: try fields.value("topic_key"))
            }
        }
        return followUps
    }

    /// Changes a relay record, unless another process changes it at the same time.
    func update(
        _ msiKey: ObjectID, audit: MessageAudit?, _ change: (inout RelayRecord, Message) throws -> Void
    ) throws -> RecordUpdate<Message> {
        guard let document = try message(["msi_key": msiKey.bson]) else { return .notFound }
        var message = document.message
        try change(&message.relay, document.message)
        guard let changes = document.changes(to: message.relay) else { return .done(message) }
        return try replace(document, by: message, changes, audit: audit)
    }

    /// Changes what a message says and its relay record, unless another process changes it at the same time.
    func edit(
        _ msiKey: ObjectID, audit: MessageAudit?, _ change: (inout Message) throws -> Void
    ) throws -> RecordUpdate<Message> {
        guard let document = try message(["msi_key": msiKey.bson]) else { return .notFound }
        var message = document.message
        try change(&message)
        return try replace(document, by: message, document.changes(toEdited: message), audit: audit)
    }

    /// - Parameter changes: The update from the document to the message.
    private func replace(
        _ document: MessageDocument, by message: Message, _ changes: BSONDocument, audit: MessageAudit?
    ) throws -> RecordUpdate<Message> {
        let unchanged: BSONDocument = [
            "_id": message.id.bson, "msi_key": message.msiKey.bson, "relay.revision": document.revision?.bson ?? .null,
        ]
        let update = try update(unchanged, changes.adding(try audit?.pending(of: message)), in: MessageCollection.name)
        return update.matched == 1 ? .done(message) : .overtaken
    }

    /// Removes messages, and then pushes unless only the messages of an origin are meant.
    ///
    /// - Returns: How many were removed.
    func removeArchived(of origin: MessageOrigin?, before moment: UnixMilliseconds, limit: Int) throws -> Int {
        let messages = try removeMessages(of: origin, before: moment, limit: limit)
        return messages < limit && origin == nil ? try messages + removePushes(before: moment, limit: limit - messages) : messages
    }

    private func removeMessages(of origin: MessageOrigin?, before moment: UnixMilliseconds, limit: Int) throws -> Int {
        var conditions: [(String, BSONValue)] = [
            ("_id", ["$type": "objectId"]), ("timestamp", ["$lt": moment.bson]), ("relay.next_attempt", nil),
            ("$or", [["relay.ended": nil], ["relay.ended": ["$lt": moment.bson]]]),
        ]
        if let origin {
            // Topic keys have no index. The index of subjects finds the subject's few messages.
            conditions += [
                ("topic.subject", origin.topic.subject.bson), ("topic_key", origin.topic.bson), ("sender", origin.sender.bson),
                ("distribution", MessageOrigin.distribution.bson),
            ]
        }
        let old = BSONDocument(conditions)
        let found = try find(
            old, in: MessageCollection.name,
            options: [
                "sort": ["timestamp": 1, "msi_key": 1], "limit": .int64(Int64(limit)),
                "projection": ["_id": 1, "msi_key": 1, "audit": 1],
            ])
        var (removed, recorded) = (0, [ObjectID]())
        for document in found {
            let fields = try BSONFields(document)
            let id: ObjectID = try fields.value("_id")
            guard let audit = try fields["audit"] else {
                recorded.append(id)
                continue
            }
            try ArchiveAudit.declaration.record((try? entries(document)) ?? [], on: self)
            // A message that was changed after the search is kept.
            removed += Int(
                try delete(["_id": id.bson, "relay.next_attempt": nil, "audit": audit], from: MessageCollection.name))
        }
        // First, so that a process that is killed leaves none behind.
        try ReceiptCollection.remove(found.compactMap { try? BSONFields($0).value("msi_key") }, self)
        guard !recorded.isEmpty else { return removed }
        return try removed
            + Int(delete(["_id": ["$in": recorded.bson], "relay.next_attempt": nil, "audit": nil], from: MessageCollection.name))
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
