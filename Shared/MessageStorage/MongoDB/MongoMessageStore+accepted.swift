import MongoDatabase
package import Schemas

extension MongoMessageStore {
    package func accepted(_ topics: [TopicKey], after cursor: PageCursor, limit: Int) async throws -> AcceptedPage {
        try await MongoError.asFailure {
            try await database.run { [unreadable] connection in
                let documents = try connection.find(
                    [
                        "relay.accepted": ["$gte": cursor.timestamp.bson], "topic_key": ["$in": topics.bson],
                        "$or": [
                            ["relay.accepted": ["$gt": cursor.timestamp.bson]], ["msi_key": ["$gt": cursor.msiKey.bson]],
                        ],
                    ],
                    in: MessageCollection.name,
                    options: [
                        "sort": ["relay.accepted": 1, "msi_key": 1], "limit": .int64(Int64(limit)),
                        "projection": [
                            "msi_key": 1, "topic_key": 1, "distribution": 1, "title": 1, "desc": 1, "message": 1, "timestamp": 1,
                            "follows": 1, "correction": 1, "relay.accepted": 1,
                        ],
                    ])
                let end = documents.count < limit ? nil : try documents.last.map(PageCursor.init(accepted:))
                return AcceptedPage(messages: try unreadable.readable(of: documents, as: PhoneMessage.init), end: end)
            }
        }
    }

    package func lastAcceptance() async throws -> UnixMilliseconds? {
        try await MongoError.asFailure {
            try await database.run { connection in
                try connection.find(
                    ["relay.accepted": ["$gte": 0]], in: MessageCollection.name,
                    options: ["sort": ["relay.accepted": -1], "limit": 1, "projection": ["relay.accepted": 1, "msi_key": 1]]
                ).first.map { try PageCursor(accepted: $0).timestamp }
            }
        }
    }
}

extension PageCursor {
    /// The place of a message in the order of acceptance.
    fileprivate init(accepted document: BSONDocument) throws {
        let fields = try BSONFields(document)
        self.init(timestamp: try fields.fields("relay").value("accepted"), msiKey: try fields.value("msi_key"))
    }
}

extension PhoneMessage {
    fileprivate init(_ document: BSONDocument) throws {
        let fields = try BSONFields(document)
        let isCorrection = try fields.optional("correction") == true
        self.init(
            msiKey: try fields.value("msi_key"), topicKey: try fields.value("topic_key"),
            distribution: try fields.value("distribution"), title: try fields.value("title"), desc: try fields.value("desc"),
            message: try fields.value("message"), timestamp: try fields.value("timestamp"),
            corrects: isCorrection ? try fields.optional("follows") : nil)
    }
}
