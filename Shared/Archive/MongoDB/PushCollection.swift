import FoundationEssentials
import Base
import Store
import Schemas

/// The `push` collection and its indexes. Its `_id` is the push's id.
enum PushCollection {
    static let name = "push"

    /// Creates missing indexes.
    static func prepare(_ connection: MongoConnection) throws {
        let indexes: [BSONDocument] =
            [
                ["name": "idempotency", "key": ["sender": 1, "idempotency_key": 1], "unique": true],
                ["name": "time", "key": ["logged": 1]],
                [
                    // A message to all has many, which are soon removed.
                    "name": "ended blocks", "key": ["relay.ended": 1],
                    "partialFilterExpression": ["transport": PushTransport.webpush.bson, "relay.ended": ["$gte": 0]],
                ],
            ] + OutboxCollection.pushes.indexes + OutboxCollection.blocks.indexes
        _ = try connection.write([
            "createIndexes": .string(name), "indexes": .array(indexes.map { .document($0) }),
        ])
    }
}

/// A push as a document of `push`. The transport's message is stored as JSON text: its names may contain dots,
/// which MongoDB forbids.
struct PushDocument {
    let push: Push
    /// Counts the changes of the record.
    let revision: Int64

    /// - Throws: ``BSONError``, including for a message that is not JSON.
    init(_ document: BSONDocument) throws {
        let fields = try BSONFields(document)
        let relay = try fields.fields("relay")
        push = Push(
            id: try fields.value("_id"), sender: try fields.value("sender"),
            idempotencyKey: try fields.value("idempotency_key"), transport: try fields.value("transport"),
            fairnessKey: try fields.value("fairness_key"),
            message: try Self.message(fields.value("message")),
            urgency: try fields.value("urgency"), project: try fields.optional("project"), logged: try fields.value("logged"),
            expires: try fields.value("expires"), notBefore: try fields.optional("not_before"),
            traceparent: try fields.optional("traceparent"),
            relay: try PushRecord(relay, by: fields.value("transport")))
        revision = try relay.value("revision")
    }

    private static func message(_ json: String) throws(BSONError) -> JSONValue {
        do {
            return try JSONCoder.decode(from: Data(json.utf8))
        } catch {
            // An error of JSON would blame the caller, whose command is valid.
            throw BSONError("field message: \(error)")
        }
    }

    static func new(_ push: Push) throws -> BSONDocument {
        let fields: [(String, BSONValue?)] = [
            ("_id", push.id.bson), ("sender", push.sender.bson), ("idempotency_key", push.idempotencyKey.bson),
            ("transport", push.transport.bson), ("fairness_key", push.fairnessKey.bson), ("urgency", push.urgency.bson),
            ("message", .string(String(decoding: try JSONCoder.encode(push.message), as: UTF8.self))),
            ("project", push.project?.bson), ("logged", push.logged.bson), ("expires", push.expires.bson),
            ("not_before", push.notBefore?.bson), ("traceparent", push.traceparent?.bson),
            ("relay", .document(push.relay.document(revision: 0))),
        ]
        return BSONDocument(fields.compactMap { key, value in value.map { (key, $0) } })
    }
}

extension PushRecord {
    fileprivate init(_ fields: BSONFields, by transport: PushTransport) throws {
        let common = try DeliveryFields(fields)
        let recipients = try BSONCoder.decode(StoredRecipients.self, from: fields.value("recipients"))
        self.init(
            state: common.state, attempts: common.attempts, nextAttempt: common.nextAttempt,
            webpushAttempt: common.webpushAttempt, lease: common.lease, ended: common.ended, transport: transport,
            recipients: recipients.records, trace: common.trace)
    }
}

extension PushTransport: BSONConvertible {}
extension Urgency: BSONConvertible {}

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

    /// - Returns: The number of removed blocks of Web Push.
    func removeBlocks(endedBefore moment: UnixMilliseconds, limit: Int) throws -> Int {
        let found = try find(
            [
                "transport": PushTransport.webpush.bson, "relay.ended": ["$gte": 0, "$lt": moment.bson],
                "relay.next_attempt": nil,
            ],
            in: PushCollection.name,
            options: ["sort": ["relay.ended": 1], "limit": .int64(Int64(limit)), "projection": ["_id": 1]])
        let identifiers = try found.map { try BSONFields($0).value("_id", as: ObjectID.self) }
        guard !identifiers.isEmpty else { return 0 }
        // A block that is to be retried by now is kept.
        return Int(try delete(["_id": ["$in": identifiers.bson], "relay.next_attempt": nil], from: PushCollection.name))
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
