import Store
import Schemas
import Base

/// A collection with an outbox: the documents with a next attempt.
struct OutboxCollection: Sendable {
    let name: String
    /// The field with the identifier that callers use.
    let keyField: String
    let urgencyField: String
    let fairnessField: String
    let urgencyValue: @Sendable (Urgency) -> BSONValue
    /// Reads the fairness key from a field.
    let fairnessKey: @Sendable (BSONFields, String) throws -> FairnessKey
    /// The number of due items that are read at least before the keys are searched one by one. There may be a push's key for each
    /// phone.
    let firstSearch: Int

    static let messages = OutboxCollection(
        name: MessageCollection.name, keyField: "msi_key", urgencyField: "distribution", fairnessField: "topic_key",
        urgencyValue: { Distribution($0).bson }, fairnessKey: { .topic(try $0.value($1)) }, firstSearch: 0)
    static let pushes = OutboxCollection(
        name: PushCollection.name, keyField: "_id", urgencyField: "urgency", fairnessField: "fairness_key",
        urgencyValue: { $0.bson }, fairnessKey: { .named(try $0.value($1)) }, firstSearch: 1_000)
    static let all = [messages, pushes]

    var isPush: Bool { name == PushCollection.name }

    /// The collection of a key's items.
    static func of(_ key: FairnessKey) -> OutboxCollection {
        switch key {
        case .topic: messages
        case .named: pushes
        }
    }

    /// Its indexes. They contain only documents that are still to be relayed, so they stay small.
    var indexes: [BSONDocument] {
        [
            index("expiry", ["expires"]),
            // It contains the fairness key and the identifier, so that a search for due items reads only the index.
            index("due by time", [urgencyField, "relay.next_attempt", fairnessField, "_id"]),
            // The name is older than pushes.
            index("due of topic", [urgencyField, fairnessField, "relay.next_attempt"]),
        ]
    }

    private func index(_ name: String, _ keys: [String]) -> BSONDocument {
        [
            "name": .string(name), "key": .document(BSONDocument(keys.map { ($0, 1) })),
            "partialFilterExpression": ["relay.next_attempt": Self.outstanding],
        ]
    }

    /// The filter for due documents.
    func due(_ urgency: Urgency, _ now: UnixMilliseconds) -> BSONDocument {
        [urgencyField: urgencyValue(urgency), "relay.next_attempt": Self.dueTime(now)]
    }

    /// The condition for `relay.next_attempt` in documents that have not ended. It is the filter of the indexes: the server uses
    /// them only for queries with this condition.
    static let outstanding: BSONValue = ["$gte": .int64(0)]

    /// The condition for `relay.next_attempt` in due documents.
    static func dueTime(_ now: UnixMilliseconds) -> BSONValue {
        ["$gte": .int64(0), "$lt": (now + 1).bson]
    }
}

extension OutboxCollection {
    /// Reads the item of a document.
    func item(_ document: BSONDocument) throws -> OutboxItem {
        isPush ? .push(try PushDocument(document).push) : .message(try MessageDocument(document).message)
    }
}

/// How unreadable documents of each collection are treated.
struct UnreadableItems: Sendable {
    let messages: UnreadableDocuments
    let pushes: UnreadableDocuments

    func of(_ collection: OutboxCollection) -> UnreadableDocuments {
        collection.isPush ? pushes : messages
    }
}

/// The outbox: the messages and pushes with a next attempt.
extension MongoConnection {
    /// Releases leases. The items are due at once.
    func releaseLeases(of owner: String, now: UnixMilliseconds) throws {
        for collection in OutboxCollection.all {
            try releaseLeases(
                [
                    collection.urgencyField: ["$in": .array(Urgency.allCases.map(collection.urgencyValue))],
                    "relay.next_attempt": OutboxCollection.outstanding, "relay.lease.owner": owner.bson,
                ],
                in: collection, now: now)
        }
    }

    /// Releases the leases of matching documents.
    func releaseLeases(_ filter: BSONDocument, in collection: OutboxCollection, now: UnixMilliseconds) throws {
        _ = try update(
            filter,
            [
                "$set": ["relay.next_attempt": now.bson], "$unset": ["relay.lease": ""],
                "$inc": ["relay.revision": .int64(1)],
            ],
            in: collection.name, all: true)
    }

    /// Expired items that are not leased, in the order of their expiry.
    func expired(by now: UnixMilliseconds, limit: Int) throws -> [OutboxKey] {
        let messages = try expired(in: .messages, by: now, limit: limit).map {
            (key: OutboxKey.message($0.key), expires: $0.expires)
        }
        let pushes = try expired(in: .pushes, by: now, limit: limit).map { (key: OutboxKey.push($0.key), expires: $0.expires) }
        return (messages + pushes).sorted { $0.expires < $1.expires }.prefix(limit).map(\.key)
    }

    private func expired(
        in collection: OutboxCollection, by now: UnixMilliseconds, limit: Int
    ) throws -> [(key: ObjectID, expires: UnixMilliseconds)] {
        let found = try find(
            [
                "expires": ["$lte": now.bson], "relay.next_attempt": OutboxCollection.outstanding,
                collection.keyField: ["$type": "objectId"],
                "$or": [["relay.lease": nil], ["relay.lease.until": ["$lte": now.bson]]],
            ],
            in: collection.name,
            options: [
                "sort": ["expires": 1], "limit": .int64(Int64(limit)), "projection": [collection.keyField: 1, "expires": 1],
            ])
        return try found.map { document in
            let fields = try BSONFields(document)
            let (key, expires): (ObjectID, UnixMilliseconds) = (
                try fields.value(collection.keyField), try fields.value("expires")
            )
            return (key: key, expires: expires)
        }
    }

    /// The number of identifiers that are read at a time.
    private static let page = 1_000
    /// The number of whole documents that are read at a time: a push to 1,000 phones may have a megabyte.
    static let batch = 50

    /// Items that satisfy a condition and whose next attempt is after the first time, and at the second time at the latest.
    func waiting(
        after now: UnixMilliseconds, until end: UnixMilliseconds, where isWanted: (OutboxItem) -> Bool
    ) throws -> [OutboxKey] {
        var found: [OutboxKey] = []
        for collection in OutboxCollection.all {
            for urgency in Urgency.allCases {
                var place: WaitingPlace?
                while true {
                    let (page, last) = try identifiers(in: collection, urgency, waitingAfter: now, until: end, behind: place)
                    for start in stride(from: 0, to: page.count, by: Self.batch) {
                        let batch = page[start..<min(start + Self.batch, page.count)]
                        let documents = try find(
                            ["_id": ["$in": .array(Array(batch))]], in: collection.name,
                            options: ["projection": MessageCollection.withoutWords])
                        // An unreadable document is not part of the outbox.
                        found += documents.compactMap { try? collection.item($0) }.filter(isWanted).map(\.key)
                    }
                    place = last
                    guard page.count == Self.page else { break }
                }
            }
        }
        return found
    }

    private func identifiers(
        in collection: OutboxCollection, _ urgency: Urgency, waitingAfter now: UnixMilliseconds, until end: UnixMilliseconds,
        behind place: WaitingPlace?
    ) throws -> (page: [BSONValue], place: WaitingPlace?) {
        // In the form of ``dueTime(_:)``: some servers lose equal values at the end of a range in an index of several fields.
        let start = place?.nextAttempt ?? max(0, now) + 1
        let range: BSONDocument = ["$gte": start.bson, "$lt": (end < .max ? end + 1 : end).bson]
        var filter: [(String, BSONValue)] = [
            (collection.urgencyField, collection.urgencyValue(urgency)), ("relay.next_attempt", .document(range)),
        ]
        if let place { filter.append(("_id", ["$nin": .array(place.read)])) }
        let documents = try find(
            BSONDocument(filter), in: collection.name,
            options: [
                "sort": ["relay.next_attempt": 1], "limit": .int64(Int64(Self.page)),
                "projection": ["_id": 1, "relay.next_attempt": 1],
            ])
        var (page, new) = ([BSONValue](), place)
        for document in documents {
            let fields = try BSONFields(document)
            guard let id = try fields["_id"] else { continue }
            let nextAttempt: UnixMilliseconds = try fields.fields("relay").value("next_attempt")
            if new?.nextAttempt != nextAttempt { new = WaitingPlace(nextAttempt: nextAttempt, read: []) }
            new?.read.append(id)
            page.append(id)
        }
        return (page, new)
    }

    /// How far the outbox was read, in the order of the next attempts. An item that another process changes during the read moves only itself.
    private struct WaitingPlace {
        var nextAttempt: UnixMilliseconds
        /// The identifiers of those with this next attempt that were read already.
        var read: [BSONValue]
    }
}
