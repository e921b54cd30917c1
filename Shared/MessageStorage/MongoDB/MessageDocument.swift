import MongoDatabase
import Schemas

/// A message as a document of `message`: the seed's fields, the other fields of ``Message``, the parts of the topic key in
/// `topic`, the words for searches in `search`, and in `audit` what the audit log has not acknowledged.
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
        let draft = MessageDraft(
            title: try fields.value("title"), desc: try fields.value("desc"), message: try fields.value("message"),
            topicKey: try fields.value("topic_key"), distribution: try fields.value("distribution"),
            ttl: try fields.optional("ttl"), sendAt: try fields.optional("send_at"),
            options: try DeliveryOptions(fields.optionalFields("options")), delay: try fields.optional("delay"),
            drill: try fields.optional("drill"), follows: try fields.optional("follows"),
            correction: try fields.optional("correction"),
            template: try fields.optional("template"), values: try fields.optionalFields("values").map { try $0.textsByName })
        let relay = try fields.optionalFields("relay")
        var message = Message(
            id: try fields.value("_id"), msiKey: try fields.value("msi_key"), draft: draft, sender: try fields.value("sender"),
            timestamp: timestamp, names: try CubeNames(fields.optionalFields("names")),
            expires: try fields.optional("expires") ?? timestamp, idempotencyKey: try fields.optional("idempotency_key"),
            approval: try fields.optional("approval"),
            relay: try RelayRecord(relay))
        message.traceparent = try fields.optional("traceparent")
        self.message = message
        revision = try relay?.optional("revision")
    }

    /// Whether the first of two documents with the same key is the message. The other one is ignored.
    static func comesFirst(_ one: MessageDocument, _ other: MessageDocument) -> Bool {
        let (isOurs, isOthersOurs) = (one.revision != nil, other.revision != nil)
        return isOurs == isOthersOurs ? one.message.id.description < other.message.id.description : isOurs
    }

    /// The update to another relay record; `nil` if the document has that record already.
    func changes(to relay: RelayRecord) -> BSONDocument? {
        guard revision != nil else { return ["$set": ["relay": .document(relay.document(revision: 1))]] }
        return relay.changes(from: message.relay)
    }

    /// The document of a new message.
    static func new(_ message: Message, audit: MessageAudit?) throws -> BSONDocument {
        let words = message.searchWords.sorted().map { BSONValue.string($0) }
        let fields: [(String, BSONValue?)] = [
            ("_id", message.id.bson), ("msi_key", message.msiKey.bson), ("title", message.title.bson),
            ("desc", message.desc.bson), ("message", message.message.bson), ("topic_key", message.topicKey.bson),
            ("distribution", message.distribution.bson), ("sender", message.sender.bson),
            ("timestamp", message.timestamp.bson), ("ttl", message.ttl?.bson), ("send_at", message.sendAt?.bson),
            ("options", message.options.map { .document($0.document) }), ("names", .document(message.names.document)),
            ("expires", message.expires.bson), ("delay", message.delay?.bson), ("drill", message.drill?.bson),
            ("follows", message.follows?.bson), ("correction", message.correction?.bson), ("template", message.template?.bson),
            ("approval", message.approval?.bson),
            ("values", message.values.map { .document(BSONDocument($0.sorted { $0.key < $1.key }.map { ($0, $1.bson) })) }),
            ("idempotency_key", message.idempotencyKey?.bson), ("relay", .document(message.relay.document(revision: 0))),
            ("topic", .document(message.topicKey.document)), ("search", .array(words)),
            ("traceparent", message.traceparent?.bson),
            ("audit", try audit.map { .array([.document(try $0.pending(of: message).element)]) }),
        ]
        return BSONDocument(fields.compactMap { key, value in value.map { (key, $0) } })
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
