import Store
import Schemas

/// A message as a document of `message`: the seed's fields, the other fields of ``Message``, the parts of the topic key in
/// `topic`, the words for searches in `search_words`, and in `audit` the entries that are not in the queue for the audit log yet.
///
/// Documents of other programs may lack the fields that are not the seed's. They count as relayed.
struct MessageDocument {
    let message: Message
    /// Counts the changes of the relay record. Absent in documents of other programs.
    let revision: Int64?

    /// - Throws: ``BSONError`` if a field of the seed's schema is missing or has another type.
    init(_ document: BSONDocument) throws {
        let fields = try BSONFields(document)
        let timestamp: UnixMilliseconds = try fields.value("timestamp")
        let relay = try fields.optionalFields("relay")
        message = Message(
            id: try fields.value("_id"), msiKey: try fields.value("msi_key"), content: try MessageContent(fields),
            sender: try fields.value("sender"), timestamp: timestamp, names: try CubeNames(fields.optionalFields("names")),
            expires: try fields.optional("expires") ?? timestamp, idempotencyKey: try fields.optional("idempotency_key"),
            approval: try fields.optional("approval"), traceparent: try fields.optional("traceparent"),
            relay: try RelayRecord(relay))
        revision = try relay?.optional("revision")
    }

    /// Whether the first of two documents with one `msi_key` has precedence. The other one is ignored.
    static func comesFirst(_ one: MessageDocument, _ other: MessageDocument) -> Bool {
        let (isOurs, isOthersOurs) = (one.revision != nil, other.revision != nil)
        return isOurs == isOthersOurs ? one.message.id.description < other.message.id.description : isOurs
    }

    /// The update to another relay record; `nil` if the document has that record already.
    func changes(to relay: RelayRecord) -> BSONDocument? {
        guard revision != nil else { return ["$set": ["relay": .document(relay.document(revision: 1))]] }
        return relay.changes(from: message.relay)
    }

    /// The update to an edited message.
    func changes(toEdited message: Message) -> BSONDocument {
        var (set, unset): ([(String, BSONValue)], [(String, BSONValue)]) = ([], [])
        for (key, value) in Self.fields(of: message) where key != "_id" {
            if let value { set.append((key, value)) } else { unset.append((key, "")) }
        }
        set.append(("relay", .document(message.relay.document(revision: (revision ?? 0) + 1))))
        return ["$set": .document(BSONDocument(set)), "$unset": .document(BSONDocument(unset))]
    }

    /// The document of a new message.
    static func new(_ message: Message, audit: MessageAudit?) throws -> BSONDocument {
        let added: [(String, BSONValue?)] = [
            ("relay", .document(message.relay.document(revision: 0))),
            ("audit", try audit.map { .array([.document(try $0.pending(of: message).element)]) }),
        ]
        return BSONDocument((fields(of: message) + added).compactMap { key, value in value.map { (key, $0) } })
    }

    /// The fields of a message's document without its relay record.
    private static func fields(of message: Message) -> [(String, BSONValue?)] {
        let content = message.content
        let words = content.searchWords.sorted().map { BSONValue.string($0) }
        return [
            ("_id", message.id.bson), ("msi_key", message.msiKey.bson), ("title", content.title.bson),
            ("desc", content.desc.bson), ("message", content.message.bson), ("topic_key", content.topicKey.bson),
            ("distribution", content.distribution.bson), ("sender", message.sender.bson),
            ("timestamp", message.timestamp.bson), ("ttl", content.ttl?.bson), ("send_at", content.sendAt?.bson),
            ("options", content.options.map { .document($0.document) }), ("names", .document(message.names.document)),
            ("expires", message.expires.bson), ("delay", content.delay?.bson), ("drill", content.drill?.bson),
            ("follows", content.follows?.bson), ("correction", content.correction?.bson), ("template", content.template?.bson),
            ("approval", message.approval?.bson),
            ("values", content.values.map { .document(BSONDocument($0.sorted { $0.key < $1.key }.map { ($0, $1.bson) })) }),
            ("idempotency_key", message.idempotencyKey?.bson), ("topic", .document(content.topicKey.document)),
            (MessageCollection.words, .array(words)), ("traceparent", message.traceparent?.bson),
        ]
    }
}

extension MessageContent {
    /// Reads a message's document, or a part of it that has the required fields.
    init(_ fields: BSONFields) throws {
        self.init(
            title: try fields.value("title"), desc: try fields.value("desc"), message: try fields.value("message"),
            topicKey: try fields.value("topic_key"), distribution: try fields.value("distribution"),
            ttl: try fields.optional("ttl"), sendAt: try fields.optional("send_at"),
            options: try DeliveryOptions(fields.optionalFields("options")), delay: try fields.optional("delay"),
            drill: try fields.optional("drill"), follows: try fields.optional("follows"),
            correction: try fields.optional("correction"), template: try fields.optional("template"),
            values: try fields.optionalFields("values").map { try $0.textsByName })
    }
}

extension BSONFields {
    /// The values for a template's blanks.
    fileprivate var textsByName: [String: String] {
        get throws {
            var texts: [String: String] = [:]
            for name in keys { texts[name] = try value(name) }
            return texts
        }
    }
}

extension CubeNames {
    /// - Parameter fields: `nil` for a message of another program.
    fileprivate init(_ fields: BSONFields?) throws {
        self.init(
            channel: try fields?.value("channel") ?? "", area: try fields?.value("area") ?? "",
            subject: try fields?.value("subject") ?? "")
    }

    fileprivate var document: BSONDocument {
        ["channel": channel.bson, "area": area.bson, "subject": subject.bson]
    }
}

extension TopicKey {
    fileprivate var document: BSONDocument {
        ["channel": channel.bson, "area": area.bson, "subject": subject.bson]
    }
}

/// The field `options` of a message's document, with the same names as in JSON.
extension DeliveryOptions {
    /// - Throws: ``BSONError`` for a field of another type.
    init?(_ fields: BSONFields?) throws {
        guard let fields else { return nil }
        self.init(
            image: try fields.optional("image"), link: try fields.optional("link"),
            collapseKey: try fields.optional("collapse_key"), analyticsLabel: try fields.optional("analytics_label"),
            android: try fields.optionalFields("android").map { Android(channelID: try $0.value("channel_id")) },
            apns: try fields.optionalFields("apns").map { APNs(category: try $0.value("category")) })
    }

    var document: BSONDocument {
        let fields: [(String, BSONValue?)] = [
            ("image", image?.bson), ("link", link?.bson), ("collapse_key", collapseKey?.bson),
            ("analytics_label", analyticsLabel?.bson),
            ("android", android.map { .document(["channel_id": $0.channelID.bson]) }),
            ("apns", apns.map { .document(["category": $0.category.bson]) }),
        ]
        return BSONDocument(fields.compactMap { key, value in value.map { (key, $0) } })
    }
}
