import EmbeddedDatabase
import GRDB
import Schemas

struct MessageRow: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "message"

    let position: Int64
    let id: ObjectID
    let msiKey: ObjectID
    let title: String
    let desc: String
    let message: String
    let topicKey: TopicKey
    private let channel: ObjectID
    private let area: ObjectID
    private let subject: ObjectID
    let distribution: Distribution
    let sender: String
    let timestamp: UnixMilliseconds
    let ttl: Int64?
    let sendAt: UnixMilliseconds?
    let options: DeliveryOptions?
    let names: CubeNames
    let expires: UnixMilliseconds
    let idempotencyKey: String?
    private var state: RelayState
    private var attempts: Int
    private var nextAttempt: UnixMilliseconds?
    private var leaseOwner: String?
    private var leaseUntil: UnixMilliseconds?
    private var components: [ComponentRecord]
    private var trace: [Intervention]?
    private var ended: UnixMilliseconds?

    init(_ document: Message, at position: Int64) {
        self.position = position
        id = document.id
        msiKey = document.msiKey
        title = document.title
        desc = document.desc
        message = document.message
        topicKey = document.topicKey
        channel = topicKey.channel
        area = topicKey.area
        subject = topicKey.subject
        distribution = document.distribution
        sender = document.sender
        timestamp = document.timestamp
        ttl = document.ttl
        sendAt = document.sendAt
        options = document.options
        names = document.names
        expires = document.expires
        idempotencyKey = document.idempotencyKey
        state = document.relay.state
        attempts = document.relay.attempts
        nextAttempt = document.relay.nextAttempt
        leaseOwner = document.relay.lease?.owner
        leaseUntil = document.relay.lease?.until
        components = document.relay.components
        trace = document.relay.trace
        ended = document.relay.ended
    }

    /// The columns that relaying changes.
    static let relayColumns: Set<String> = [
        "state", "attempts", "nextAttempt", "leaseOwner", "leaseUntil", "components", "trace", "ended",
    ]

    var relay: RelayRecord {
        get {
            var lease: Lease?
            if let leaseOwner, let leaseUntil { lease = Lease(owner: leaseOwner, until: leaseUntil) }
            return RelayRecord(
                state: state, attempts: attempts, nextAttempt: nextAttempt, lease: lease, ended: ended, components: components,
                trace: trace)
        }
        set {
            state = newValue.state
            attempts = newValue.attempts
            nextAttempt = newValue.nextAttempt
            leaseOwner = newValue.lease?.owner
            leaseUntil = newValue.lease?.until
            components = newValue.components
            trace = newValue.trace
            ended = newValue.ended
        }
    }

    var document: Message {
        Message(
            id: id, msiKey: msiKey,
            draft: MessageDraft(
                title: title, desc: desc, message: message, topicKey: topicKey, distribution: distribution, ttl: ttl,
                sendAt: sendAt, options: options),
            sender: sender, timestamp: timestamp, names: names, expires: expires, idempotencyKey: idempotencyKey, relay: relay)
    }

    /// The message that a sender posted with an idempotency key.
    static func find(_ key: String, of sender: String, in database: Database) throws -> MessageRow? {
        try Row.fetchOne(
            database, sql: "SELECT * FROM message WHERE sender = ? AND idempotencyKey = ?", arguments: [sender, key]
        ).map { try MessageRow(reading: $0) }
    }

    static func find(_ msiKey: ObjectID, in database: Database) throws -> MessageRow? {
        try Row.fetchOne(database, sql: "SELECT * FROM message WHERE msiKey = ?", arguments: [msiKey]).map {
            try MessageRow(reading: $0)
        }
    }
}
