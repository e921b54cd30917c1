import EmbeddedDatabase
import FoundationEssentials
import GRDB
import JSON
import Schemas

struct PushRow: Codable, FetchableRecord, PersistableRecord {
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
    private var state: RelayState
    private var attempts: Int
    private var nextAttempt: UnixMilliseconds?
    private var leaseOwner: String?
    private var leaseUntil: UnixMilliseconds?
    private var ended: UnixMilliseconds?
    private var recipients: [RecipientRecord]
    private var trace: [Intervention]?

    init(_ push: Push) throws {
        pushID = push.id
        sender = push.sender
        idempotencyKey = push.idempotencyKey
        transport = push.transport
        fairnessKey = push.fairnessKey
        urgency = push.urgency
        message = String(decoding: try JSONCoder.encode(push.message), as: UTF8.self)
        project = push.project
        logged = push.logged
        expires = push.expires
        notBefore = push.notBefore
        state = push.relay.state
        attempts = push.relay.attempts
        nextAttempt = push.relay.nextAttempt
        leaseOwner = push.relay.lease?.owner
        leaseUntil = push.relay.lease?.until
        ended = push.relay.ended
        recipients = push.relay.recipients
        trace = push.relay.trace
    }

    /// The columns that relaying changes.
    static let relayColumns: Set<String> = [
        "state", "attempts", "nextAttempt", "leaseOwner", "leaseUntil", "ended", "recipients", "trace",
    ]

    var relay: PushRecord {
        get {
            var lease: Lease?
            if let leaseOwner, let leaseUntil { lease = Lease(owner: leaseOwner, until: leaseUntil) }
            return PushRecord(
                state: state, attempts: attempts, nextAttempt: nextAttempt, lease: lease, ended: ended, recipients: recipients,
                trace: trace)
        }
        set {
            state = newValue.state
            attempts = newValue.attempts
            nextAttempt = newValue.nextAttempt
            leaseOwner = newValue.lease?.owner
            leaseUntil = newValue.lease?.until
            ended = newValue.ended
            recipients = newValue.recipients
            trace = newValue.trace
        }
    }

    var document: Push {
        get throws {
            Push(
                id: pushID, sender: sender, idempotencyKey: idempotencyKey, transport: transport, fairnessKey: fairnessKey,
                message: try JSONCoder.decode(from: Data(message.utf8)), urgency: urgency, project: project, logged: logged,
                expires: expires, notBefore: notBefore, relay: relay)
        }
    }

    /// The push that a sender logged with an idempotency key.
    static func find(_ key: String, of sender: String, in database: Database) throws -> PushRow? {
        try read("SELECT * FROM push WHERE sender = ? AND idempotencyKey = ?", [sender, key], in: database)
    }

    static func find(_ id: ObjectID, in database: Database) throws -> PushRow? {
        try read("SELECT * FROM push WHERE pushID = ?", [id], in: database)
    }

    private static func read(_ sql: String, _ arguments: StatementArguments, in database: Database) throws -> PushRow? {
        try Row.fetchOne(database, sql: sql, arguments: arguments).map { row in
            do {
                return try PushRow(row: row)
            } catch {
                throw UnreadableRow(error)
            }
        }
    }
}
