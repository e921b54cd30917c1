import EmbeddedDatabase
import FoundationEssentials
import GRDB
import JSON
import Schemas

/// The message and the recipients are JSON text, which is decoded only for the document: they may be large.
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
    var state = RelayState.pending
    var attempts = 0
    var nextAttempt: UnixMilliseconds?
    var leaseOwner: String?
    var leaseUntil: UnixMilliseconds?
    var ended: UnixMilliseconds?
    /// JSON.
    private var recipients: String
    var trace: [Intervention]?

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
        recipients = try Self.json(push.relay.recipients)
        setDelivery(push.relay)
    }

    /// The columns that relaying changes.
    static let relayColumns = deliveryColumns.union(["recipients"])

    /// The row with another record.
    func with(_ record: PushRecord) throws -> PushRow {
        var row = self
        row.setDelivery(record)
        row.recipients = try Self.json(record.recipients)
        return row
    }

    var document: Push {
        get throws {
            let relay = PushRecord(
                state: state, attempts: attempts, nextAttempt: nextAttempt, lease: lease, ended: ended,
                recipients: try JSONCoder.decode(from: Data(recipients.utf8)), trace: trace)
            return Push(
                id: pushID, sender: sender, idempotencyKey: idempotencyKey, transport: transport, fairnessKey: fairnessKey,
                message: try JSONCoder.decode(from: Data(message.utf8)), urgency: urgency, project: project, logged: logged,
                expires: expires, notBefore: notBefore, relay: relay)
        }
    }

    private static func json(_ value: some Encodable) throws -> String {
        String(decoding: try JSONCoder.encode(value), as: UTF8.self)
    }
}
