import Store
package import Schemas

extension MongoMessageStore {
    package func accepted(
        _ topics: [TopicKey], after cursor: PageCursor, limit: Int, checkStillWanted: @escaping @Sendable () throws -> Void
    ) async throws -> AcceptedPage {
        try await MongoError.asFailure {
            try await database.run { [unreadable] connection in
                // The call may have waited for a thread.
                try checkStillWanted()
                let cursors = try connection.cursors(of: Array(Set(topics)), after: cursor, limit: limit)
                let documents = try connection.accepted(at: cursors)
                return AcceptedPage(
                    messages: try unreadable.readable(of: documents, as: AcceptedMessage.init),
                    end: cursors.count < limit ? nil : cursors.last)
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
}

extension MongoConnection {
    /// MongoDB merges the topics of a query in the order of its index if they are no more than its setting
    /// `internalQueryMaxScansToExplode`, 200 by default. Otherwise it would read and sort all messages of the topics.
    private static let maxMergedTopics = 100

    /// The cursors of the first messages of topics after a cursor. The index contains everything that it reads.
    fileprivate func cursors(of topics: [TopicKey], after cursor: PageCursor, limit: Int) throws -> [PageCursor] {
        var cursors: [PageCursor] = []
        for start in stride(from: 0, to: topics.count, by: Self.maxMergedTopics) {
            let part = topics[start..<min(start + Self.maxMergedTopics, topics.count)]
            cursors += try find(
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
        return Array(cursors.sorted().prefix(limit))
    }

    /// The first messages of all topics after a cursor, and where a page ends that is not the last one. The page may be longer than the
    /// limit: the index has no `msi_key`, so the messages of its first and its last millisecond are read completely.
    fileprivate func accepted(after cursor: PageCursor, limit: Int) throws -> ([BSONDocument], end: PageCursor?) {
        var page = try accepted(["$eq": cursor.timestamp.bson], limit: nil).filter { cursor < $0.cursor }
        let later = try accepted(["$gt": cursor.timestamp.bson], limit: limit)
        guard later.count == limit, let last = later.last?.cursor.timestamp else {
            return ((page + later).map(\.document), nil)
        }
        page += later.filter { $0.cursor.timestamp != last } + (try accepted(["$eq": last.bson], limit: nil))
        return (page.map(\.document), page.last?.cursor)
    }

    private func accepted(
        _ time: BSONDocument, limit: Int?
    ) throws -> [(document: BSONDocument, cursor: PageCursor)] {
        try sorted(
            find(
                ["relay.accepted": .document(time)], in: MessageCollection.name,
                options: [
                    "sort": ["relay.accepted": 1], "projection": Self.acceptedFields, "limit": .int64(Int64(limit ?? 0)),
                ]))
    }

    /// The messages with the keys of cursors, in acceptance order.
    fileprivate func accepted(at cursors: [PageCursor]) throws -> [BSONDocument] {
        guard !cursors.isEmpty else { return [] }
        let found = try find(
            ["msi_key": ["$in": cursors.map(\.msiKey).bson]], in: MessageCollection.name,
            options: ["projection": Self.acceptedFields])
        return sorted(found).map(\.document)
    }

    /// Only what phones need, so that damage to other fields does not keep a message from them.
    private static let acceptedFields: BSONValue = [
        "msi_key": 1, "topic_key": 1, "distribution": 1, "title": 1, "desc": 1, "message": 1, "timestamp": 1,
        "follows": 1, "correction": 1, "options.link": 1, "relay.accepted": 1,
    ]

    /// Sorts documents in acceptance order. Those without a readable key and acceptance time, such as another program's, are left out.
    private func sorted(_ documents: [BSONDocument]) -> [(document: BSONDocument, cursor: PageCursor)] {
        documents.compactMap { document in (try? PageCursor(accepted: document)).map { (document, cursor: $0) } }
            .sorted { $0.cursor < $1.cursor }
    }
}

extension PageCursor {
    /// The cursor of a message in the acceptance order.
    fileprivate init(accepted document: BSONDocument) throws {
        let fields = try BSONFields(document)
        self.init(timestamp: try fields.fields("relay").value("accepted"), msiKey: try fields.value("msi_key"))
    }
}

extension AcceptedMessage {
    fileprivate init(_ document: BSONDocument) throws {
        let fields = try BSONFields(document)
        let isCorrection = try fields.optional("correction") == true
        let link: String? = try fields.optionalFields("options")?.optional("link")
        self.init(
            accepted: try fields.fields("relay").value("accepted"),
            message: PhoneMessage(
                msiKey: try fields.value("msi_key"), topicKey: try fields.value("topic_key"),
                distribution: try fields.value("distribution"), title: try fields.value("title"),
                desc: try fields.value("desc"), message: try fields.value("message"), timestamp: try fields.value("timestamp"),
                corrects: isCorrection ? try fields.optional("follows") : nil, link: link))
    }
}
