import MongoDatabase
package import Schemas

extension MongoMessageStore {
    package func accepted(
        _ topics: [TopicKey], after cursor: PageCursor, limit: Int, checkStillWanted: @escaping @Sendable () throws -> Void
    ) async throws -> AcceptedPage {
        try await MongoError.asFailure {
            try await database.run { [unreadable] connection in
                // The call may have waited for a thread.
                try checkStillWanted()
                let places = try connection.places(of: Array(Set(topics)), after: cursor, limit: limit)
                let documents = try connection.accepted(at: places)
                return AcceptedPage(
                    messages: try unreadable.readable(of: documents, as: AcceptedMessage.init),
                    end: places.count < limit ? nil : places.last)
            }
        }
    }

    package func accepted(
        after cursor: PageCursor, limit: Int, checkStillWanted: @escaping @Sendable () throws -> Void
    ) async throws -> AcceptedPage {
        try await MongoError.asFailure {
            try await database.run { [unreadable] connection in
                try checkStillWanted()
                let (documents, end) = try connection.accepted(after: cursor, limit: limit)
                return AcceptedPage(messages: try unreadable.readable(of: documents, as: AcceptedMessage.init), end: end)
            }
        }
    }

    package func lastAcceptance() async throws -> UnixMilliseconds? {
        try await MongoError.asFailure {
            try await database.run { connection in
                try connection.find(
                    ["relay.accepted": ["$gte": 0]], in: MessageCollection.name,
                    options: ["sort": ["relay.accepted": -1], "limit": 1, "projection": ["_id": 0, "relay.accepted": 1]]
                ).first.map { try BSONFields($0).fields("relay").value("accepted") }
            }
        }
    }

    package func withoutAcceptance(endedSince moment: UnixMilliseconds) async throws -> [ObjectID] {
        try await MongoError.asFailure {
            try await database.run { connection in
                let documents = try connection.find(
                    [
                        "relay.ended": ["$gte": max(0, moment).bson], "relay.accepted": nil, "msi_key": ["$type": "objectId"],
                        "relay.components": [
                            "$elemMatch": ["component": Component.data.bson, "state": DeliveryState.accepted.bson]
                        ],
                    ],
                    in: MessageCollection.name, options: ["sort": ["relay.ended": 1], "projection": ["msi_key": 1]])
                return try documents.map { try BSONFields($0).value("msi_key") }
            }
        }
    }
}

extension MongoConnection {
    /// MongoDB merges the topics of a query in the order of its index if they are no more than its setting
    /// `internalQueryMaxScansToExplode`, 200 by default. Otherwise it would read and sort all messages of the topics.
    private static let maxMergedTopics = 100

    /// The places of the first messages of topics after a cursor. The index contains everything that it reads.
    fileprivate func places(of topics: [TopicKey], after cursor: PageCursor, limit: Int) throws -> [PageCursor] {
        var places: [PageCursor] = []
        for start in stride(from: 0, to: topics.count, by: Self.maxMergedTopics) {
            let part = topics[start..<min(start + Self.maxMergedTopics, topics.count)]
            places += try find(
                [
                    "topic_key": ["$in": Array(part).bson], "relay.accepted": ["$gte": cursor.timestamp.bson],
                    "$or": [
                        ["relay.accepted": ["$gt": cursor.timestamp.bson]], ["msi_key": ["$gt": cursor.msiKey.bson]],
                    ],
                ],
                in: MessageCollection.name,
                options: [
                    "sort": ["relay.accepted": 1, "msi_key": 1], "limit": .int64(Int64(limit)),
                    "projection": ["_id": 0, "relay.accepted": 1, "msi_key": 1],
                    "hint": .string(MessageCollection.topicAcceptanceIndex),
                ]
            ).map(PageCursor.init(accepted:))
        }
        return Array(places.sorted().prefix(limit))
    }

    /// The first messages of all topics after a cursor, and where a page ends that is not the last one. The page may be longer than the
    /// limit: the index has no `msi_key`, so the messages of its first and its last millisecond are read completely.
    fileprivate func accepted(after cursor: PageCursor, limit: Int) throws -> ([BSONDocument], end: PageCursor?) {
        var page = try accepted(["$eq": cursor.timestamp.bson], limit: nil).filter { cursor < $0.place }
        let later = try accepted(["$gt": cursor.timestamp.bson], limit: limit)
        guard later.count == limit, let last = later.last?.place.timestamp else {
            return ((page + later).map(\.document), nil)
        }
        page += later.filter { $0.place.timestamp != last } + (try accepted(["$eq": last.bson], limit: nil))
        return (page.map(\.document), page.last?.place)
    }

    private func accepted(
        _ time: BSONDocument, limit: Int?
    ) throws -> [(document: BSONDocument, place: PageCursor)] {
        try placed(
            find(
                ["relay.accepted": .document(time)], in: MessageCollection.name,
                options: [
                    "sort": ["relay.accepted": 1], "projection": Self.acceptedFields, "limit": .int64(Int64(limit ?? 0)),
                ]))
    }

    /// The messages with the keys of places, in the order of acceptance.
    fileprivate func accepted(at places: [PageCursor]) throws -> [BSONDocument] {
        guard !places.isEmpty else { return [] }
        let found = try find(
            ["msi_key": ["$in": places.map(\.msiKey).bson]], in: MessageCollection.name,
            options: ["projection": Self.acceptedFields])
        return placed(found).map(\.document)
    }

    private static let acceptedFields: BSONValue = [
        "msi_key": 1, "topic_key": 1, "distribution": 1, "title": 1, "desc": 1, "message": 1, "timestamp": 1,
        "follows": 1, "correction": 1, "relay.accepted": 1,
    ]

    /// In the order of acceptance. A document of another program with the same key has no place.
    private func placed(_ documents: [BSONDocument]) -> [(document: BSONDocument, place: PageCursor)] {
        documents.compactMap { document in (try? PageCursor(accepted: document)).map { (document, place: $0) } }
            .sorted { $0.place < $1.place }
    }
}

extension PageCursor {
    /// The place of a message in the order of acceptance.
    fileprivate init(accepted document: BSONDocument) throws {
        let fields = try BSONFields(document)
        self.init(timestamp: try fields.fields("relay").value("accepted"), msiKey: try fields.value("msi_key"))
    }
}

extension AcceptedMessage {
    fileprivate init(_ document: BSONDocument) throws {
        let fields = try BSONFields(document)
        let isCorrection = try fields.optional("correction") == true
        self.init(
            accepted: try fields.fields("relay").value("accepted"),
            message: PhoneMessage(
                msiKey: try fields.value("msi_key"), topicKey: try fields.value("topic_key"),
                distribution: try fields.value("distribution"), title: try fields.value("title"),
                desc: try fields.value("desc"), message: try fields.value("message"), timestamp: try fields.value("timestamp"),
                corrects: isCorrection ? try fields.optional("follows") : nil))
    }
}
