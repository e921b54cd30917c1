import EmbeddedDatabase
import FoundationEssentials
import GRDB
import JSON
import Schemas
import UnreadableDocuments

/// The message, the recipients and the trace are JSON text as stored. It is decoded only for the document, because it may be large.
/// A change compares the text itself, which another program may have written in another form.
struct PushRow: Codable, OutboxRow, PersistableRecord {
    static let table = OutboxTable.pushes
    static let databaseTableName = "push"

    let pushID: ObjectID
    let sender: String
    let idempotencyKey: String
    let transport: PushTransport
    let fairnessKey: String
    let urgency: Urgency
    /// JSON.
    let message: String
    let project: String?
    let logged: UnixMilliseconds
    let expires: UnixMilliseconds
    let notBefore: UnixMilliseconds?
    private let traceparent: String?
    var state = RelayState.pending
    var attempts = 0
    var nextAttempt: UnixMilliseconds?
    var leaseOwner: String?
    var leaseUntil: UnixMilliseconds?
    var ended: UnixMilliseconds?
    /// JSON.
    private var recipients: String
    /// JSON.
    private var trace: String?

    init(_ push: Push) throws {
        pushID = push.id
        sender = push.sender
        idempotencyKey = push.idempotencyKey
        transport = push.transport
        fairnessKey = push.fairnessKey
        urgency = push.urgency
        message = try Self.json(push.message)
        project = push.project
        logged = push.logged
        expires = push.expires
        notBefore = push.notBefore
        traceparent = push.traceparent
        recipients = try Self.json(push.relay.recipients)
        trace = try push.relay.trace.map(Self.json)
        setDelivery(push.relay)
    }

    /// The columns that relaying changes.
    static let relayColumns = deliveryColumns.union(["recipients"])

    /// The row with another record.
    func with(_ record: PushRecord) throws -> PushRow {
        var row = self
        row.setDelivery(record)
        row.recipients = try Self.json(record.recipients)
        row.trace = try record.trace.map(Self.json)
        return row
    }

    var document: Push {
        get throws(UnreadableRow) {
            let relay = PushRecord(
                state: state, attempts: attempts, nextAttempt: nextAttempt, lease: lease, ended: ended,
                recipients: try Self.decode(recipients), trace: try trace.map(Self.decode))
            return Push(
                id: pushID, sender: sender, idempotencyKey: idempotencyKey, transport: transport, fairnessKey: fairnessKey,
                message: try Self.decode(message), urgency: urgency, project: project, logged: logged, expires: expires,
                notBefore: notBefore, traceparent: traceparent, relay: relay)
        }
    }

    /// The push, for a request for this one alone.
    ///
    /// - Throws: ``CommandFailure`` with status `conflict` if it is unreadable.
    func readDocument() throws(CommandFailure) -> Push {
        do {
            return try document
        } catch {
            throw .unreadable("push", pushID, error)
        }
    }

    private static func decode<Value: Decodable>(_ json: String) throws(UnreadableRow) -> Value {
        do {
            return try JSONCoder.decode(from: Data(json.utf8))
        } catch {
            // An error of JSON would blame the caller, whose command is valid.
            throw UnreadableRow(error)
        }
    }

    private static func json(_ value: some Encodable) throws -> String {
        String(decoding: try JSONCoder.encode(value), as: UTF8.self)
    }
}
