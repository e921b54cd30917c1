import FoundationEssentials
import JSON
import MongoDatabase
import Schemas

/// A push as a document of `push`. The transport's message is stored as JSON text: its names may contain dots,
/// which MongoDB forbids.
struct PushDocument {
    let push: Push
    /// Counts the changes of the record.
    let revision: Int64

    /// - Throws: ``BSONError``, also for a message that is not JSON.
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
            traceparent: try fields.optional("traceparent"), relay: try PushRecord(relay))
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
    fileprivate init(_ fields: BSONFields) throws {
        let common = try DeliveryFields(fields)
        self.init(
            state: common.state, attempts: common.attempts, nextAttempt: common.nextAttempt, lease: common.lease,
            ended: common.ended, recipients: try fields.list("recipients").map { try RecipientRecord($0) }, trace: common.trace)
    }
}

extension RecipientRecord {
    fileprivate init(_ fields: BSONFields) throws {
        var recipient: PushRecipient?
        for field in PushRecipient.Field.allCases {
            if let text = try fields.optional(field.rawValue, as: String.self) { recipient = PushRecipient(field, text) }
        }
        self.init(
            recipient: try recipient ?? .topic(fields.value("topic")), state: try fields.value("state"),
            name: try fields.optional("name"), acceptedAt: try fields.optional("accepted_at"),
            error: try fields.optionalFields("error").map { try DeliveryError($0) })
    }
}

extension PushTransport: BSONConvertible {}
extension Urgency: BSONConvertible {}
