import Store
import Schemas
import Base

/// A collection with an outbox, the documents with a next attempt, for one transport.
struct OutboxCollection: Sendable {
    let name: String
    /// The field of `relay` by whose times a queue is claimed.
    let dueName: String
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

    static let messages = ofMessages("next_attempt")
    static let pushes = ofPushes("next_attempt")
    /// Both collections, each once.
    static let all = [messages, pushes]
    /// The messages whose part for Web Push is to be relayed.
    static let fanOuts = ofMessages(webpushName)
    /// The pushes for Web Push.
    static let blocks = ofPushes(webpushName)

    private static let webpushName = "webpush_attempt"

    private static func ofMessages(_ dueName: String) -> OutboxCollection {
        OutboxCollection(
            name: MessageCollection.name, dueName: dueName, keyField: "msi_key", urgencyField: "distribution",
            fairnessField: "topic_key", urgencyValue: { Distribution($0).bson }, fairnessKey: { .topic(try $0.value($1)) },
            firstSearch: 0)
    }

    private static func ofPushes(_ dueName: String) -> OutboxCollection {
        OutboxCollection(
            name: PushCollection.name, dueName: dueName, keyField: "_id", urgencyField: "urgency", fairnessField: "fairness_key",
            urgencyValue: { $0.bson }, fairnessKey: { .named(try $0.value($1)) }, firstSearch: 1_000)
    }

    var isPush: Bool { name == PushCollection.name }

    private var isForWebPush: Bool { dueName == Self.webpushName }

    /// The path of the field by whose times a queue is claimed.
    var dueField: String { "relay." + dueName }

    /// The collections of a queue.
    static func of(_ queue: OutboxQueue) -> [OutboxCollection] {
        switch queue {
        case .fcm: all
        case .fanOuts: [fanOuts]
        case .blocks: [blocks]
        }
    }

    /// The collection of a key's items in a queue.
    static func of(_ key: FairnessKey, in queue: OutboxQueue) -> OutboxCollection {
        switch key {
        case .topic: queue == .fcm ? messages : fanOuts
        case .named: queue == .fcm ? pushes : blocks
        }
    }

    /// Its indexes. They contain only documents that are still to be relayed, so they stay small.
    var indexes: [BSONDocument] {
        if isForWebPush {
            return [
                index("web push by time", [urgencyField, dueField, fairnessField, "_id"]),
                index("web push of key", [urgencyField, fairnessField, dueField]),
            ]
        }
        return [
            index("expiry", ["expires"]),
            // It contains the fairness key and the identifier, so that a search for due items reads only the index.
            index("due by time", [urgencyField, dueField, fairnessField, "_id"]),
            // The name is older than pushes.
            index("due of topic", [urgencyField, fairnessField, dueField]),
        ]
    }

    private func index(_ name: String, _ keys: [String]) -> BSONDocument {
        [
            "name": .string(name), "key": .document(BSONDocument(keys.map { ($0, 1) })),
            "partialFilterExpression": [dueField: Self.outstanding],
        ]
    }

    /// The filter for due documents.
    func due(_ urgency: Urgency, _ now: UnixMilliseconds) -> BSONDocument {
        [urgencyField: urgencyValue(urgency), dueField: Self.dueTime(now)]
    }

    /// The condition for the due time in documents that have not ended. It is the filter of the indexes: the server uses them only for
    /// queries with this condition.
    static let outstanding: BSONValue = ["$gte": .int64(0)]

    /// The conditions of which documents without a lease, and those whose lease has ended, fulfil none.
    static func leased(_ now: UnixMilliseconds) -> BSONValue { [["relay.lease.until": ["$gt": now.bson]]] }

    /// The conditions of which leased documents that become due at the end of the lease fulfil one. By FCM alone, what is leased is due.
    fileprivate var dueAfterLease: BSONValue {
        let isDueAtEnd: BSONValue = ["$expr": ["$eq": [.string("$" + dueField), "$relay.lease.until"]]]
        return isForWebPush ? [isDueAtEnd] : [["relay." + Self.webpushName: nil], isDueAtEnd]
    }

    /// The condition for the due time in due documents.
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
    /// Releases all leases of an owner, as ``DeliveryRecord/releaseLease(at:)`` does.
    func releaseLeases(of owner: String, now: UnixMilliseconds) throws {
        func leased(_ collection: OutboxCollection) -> BSONDocument {
            [
                collection.urgencyField: ["$in": .array(Urgency.allCases.map(collection.urgencyValue))],
                collection.dueField: OutboxCollection.outstanding, "relay.lease.owner": owner.bson,
            ]
        }
        // The due times first, while the documents still have the lease.
        for collection in OutboxCollection.all + [.fanOuts, .blocks] {
            _ = try update(
                leased(collection).with("$or", collection.dueAfterLease),
                ["$set": [collection.dueField: now.bson], "$inc": ["relay.revision": .int64(1)]], in: collection.name, all: true)
        }
        for collection in OutboxCollection.all {
            _ = try update(
                leased(collection), ["$unset": ["relay.lease": ""], "$inc": ["relay.revision": .int64(1)]], in: collection.name,
                all: true)
        }
    }

    /// Releases the leases of matching documents, which become due in the collection's queue.
    func releaseLeases(_ filter: BSONDocument, in collection: OutboxCollection, now: UnixMilliseconds) throws {
        _ = try update(
            filter,
            [
                "$set": [collection.dueField: now.bson], "$unset": ["relay.lease": ""],
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

    /// Items that satisfy a condition and whose next attempt, by either transport, is after the first time, and at the second time at the
    /// latest.
    func waiting(
        after now: UnixMilliseconds, until end: UnixMilliseconds, where isWanted: (OutboxItem) -> Bool
    ) throws -> [OutboxKey] {
        var found: [OutboxKey] = []
        // One that waits for both transports is found twice.
        var known: Set<OutboxKey> = []
        for collection in OutboxCollection.all + [.fanOuts, .blocks] {
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
                        let items = documents.compactMap { try? collection.item($0) }.filter { known.insert($0.key).inserted }
                        found += items.filter(isWanted).map(\.key)
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
            (collection.urgencyField, collection.urgencyValue(urgency)), (collection.dueField, .document(range)),
        ]
        if let place { filter.append(("_id", ["$nin": .array(place.read)])) }
        let documents = try find(
            BSONDocument(filter), in: collection.name,
            options: [
                "sort": [collection.dueField: 1], "limit": .int64(Int64(Self.page)),
                "projection": ["_id": 1, collection.dueField: 1],
            ])
        var (page, new) = ([BSONValue](), place)
        for document in documents {
            let fields = try BSONFields(document)
            guard let id = try fields["_id"] else { continue }
            let nextAttempt: UnixMilliseconds = try fields.fields("relay").value(collection.dueName)
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
