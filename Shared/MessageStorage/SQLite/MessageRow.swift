import EmbeddedDatabase
import GRDB
import Schemas
import Time

struct MessageRow: Codable, OutboxRow, PersistableRecord {
    static let table = OutboxTable.messages
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
    let delay: Int64?
    let drill: Bool?
    let follows: ObjectID?
    let correction: Bool?
    let template: ObjectID?
    /// `values` is a word of SQL.
    let templateValues: [String: String]?
    let approval: Bool?
    let names: CubeNames
    let expires: UnixMilliseconds
    let idempotencyKey: String?
    private let traceparent: String?
    var state = RelayState.pending
    var attempts = 0
    var nextAttempt: UnixMilliseconds?
    var leaseOwner: String?
    var leaseUntil: UnixMilliseconds?
    private var components: [ComponentRecord]
    private var trace: [Intervention]?
    var ended: UnixMilliseconds?
    private var accepted: UnixMilliseconds?

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
        ttl = document.ttl?.rawValue
        sendAt = document.sendAt
        options = document.options
        delay = document.delay?.rawValue
        drill = document.drill
        follows = document.follows
        correction = document.correction
        template = document.template
        templateValues = document.values
        approval = document.approval
        names = document.names
        expires = document.expires
        idempotencyKey = document.idempotencyKey
        traceparent = document.traceparent
        components = document.relay.components
        trace = document.relay.trace
        accepted = document.relay.accepted
        setDelivery(document.relay)
    }

    /// The columns that relaying changes.
    static let relayColumns = deliveryColumns.union(["components", "accepted"])

    var relay: RelayRecord {
        get {
            RelayRecord(
                state: state, attempts: attempts, nextAttempt: nextAttempt, lease: lease, ended: ended, accepted: accepted,
                components: components, trace: trace)
        }
        set {
            setDelivery(newValue)
            components = newValue.components
            trace = newValue.trace
            accepted = newValue.accepted
        }
    }

    var document: Message {
        var message = Message(
            id: id, msiKey: msiKey,
            draft: MessageDraft(
                title: title, desc: desc, message: message, topicKey: topicKey, distribution: distribution,
                ttl: ttl.map(Seconds.init(rawValue:)),
                sendAt: sendAt, options: options, delay: delay.map(Seconds.init(rawValue:)), drill: drill, follows: follows,
                correction: correction, template: template, values: templateValues),
            sender: sender, timestamp: timestamp, names: names, expires: expires, idempotencyKey: idempotencyKey,
            approval: approval, relay: relay)
        message.traceparent = traceparent
        return message
    }
}
