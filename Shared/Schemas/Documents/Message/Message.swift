package import Base

/// A message: a document of the `message` collection (seed, "Schema"), with further fields for its delivery to FCM.
///
/// The fields of its ``content`` are fields of the document, and are read as `message.title`.
@dynamicMemberLookup
package struct Message: Hashable, Sendable {
    package var id: ObjectID
    /// The identifier that is sent with the message. The phone drops a second copy by it.
    package var msiKey: ObjectID
    /// What its sender has said. A template or a followed message may have been changed or removed since.
    package var content: MessageContent
    package var sender: String
    package var timestamp: UnixMilliseconds
    /// Whether another account had to approve it before it went out. Absent for no.
    package var approval: Bool?
    /// The `msi_key`s of its newest follow-ups, oldest first; absent if there are none. Not stored: the replies to commands about the
    /// message have it.
    package var followUps: [ObjectID]?
    /// The topics of ``followUps``, in the same order. By them the gateway leaves out what a caller may not see.
    package var followUpTopics: [TopicKey]?
    /// What phones have reported; absent before the first report. Not stored with the message: as for ``followUps``.
    package var receipts: MessageReceipts?
    /// The names of its channel, area and subject when it was sent.
    package var names: CubeNames
    /// When it expires.
    package var expires: UnixMilliseconds
    /// The client's key for this POST and its retries, if there is one.
    package var idempotencyKey: String?
    /// The W3C trace context of the request that posted it, which each attempt to relay it continues. Messages of other
    /// programs have none.
    package var traceparent: String?
    package var relay: RelayRecord

    package init(
        id: ObjectID = ObjectID(), msiKey: ObjectID, content: MessageContent, sender: String, timestamp: UnixMilliseconds,
        names: CubeNames, expires: UnixMilliseconds, idempotencyKey: String? = nil, approval: Bool? = nil,
        traceparent: String? = nil, relay: RelayRecord
    ) {
        self.id = id
        self.msiKey = msiKey
        self.content = content
        self.sender = sender
        self.timestamp = timestamp
        self.names = names
        self.expires = expires
        self.idempotencyKey = idempotencyKey
        self.approval = approval
        self.traceparent = traceparent
        self.relay = relay
    }

    package subscript<Value>(dynamicMember field: KeyPath<MessageContent, Value>) -> Value { content[keyPath: field] }

    /// The time before which it does not go out; `nil` for at once.
    ///
    /// - Parameter now: If the clock was set back since the post, a delay is counted from now.
    package func notBefore(at now: UnixMilliseconds) -> UnixMilliseconds? {
        content.sendAt ?? content.delay.map { min(timestamp, now) + Milliseconds($0) }
    }
}

extension Message: Codable {
    /// The fields beside those of the content.
    private enum CodingKeys: String, CodingKey {
        case id = "_id"
        case msiKey = "msi_key"
        case sender, timestamp, approval, receipts, names, expires, traceparent, relay
        case followUps = "follow_ups"
        case followUpTopics = "follow_up_topics"
        case idempotencyKey = "idempotency_key"
    }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        id = try fields.decode(ObjectID.self, forKey: .id)
        msiKey = try fields.decode(ObjectID.self, forKey: .msiKey)
        content = try MessageContent(from: decoder)
        sender = try fields.decode(String.self, forKey: .sender)
        timestamp = try fields.decode(UnixMilliseconds.self, forKey: .timestamp)
        approval = try fields.decodeIfPresent(Bool.self, forKey: .approval)
        followUps = try fields.decodeIfPresent([ObjectID].self, forKey: .followUps)
        followUpTopics = try fields.decodeIfPresent([TopicKey].self, forKey: .followUpTopics)
        receipts = try fields.decodeIfPresent(MessageReceipts.self, forKey: .receipts)
        names = try fields.decode(CubeNames.self, forKey: .names)
        expires = try fields.decode(UnixMilliseconds.self, forKey: .expires)
        idempotencyKey = try fields.decodeIfPresent(String.self, forKey: .idempotencyKey)
        traceparent = try fields.decodeIfPresent(String.self, forKey: .traceparent)
        relay = try fields.decode(RelayRecord.self, forKey: .relay)
    }

    package func encode(to encoder: any Encoder) throws {
        try content.encode(to: encoder)
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(id, forKey: .id)
        try fields.encode(msiKey, forKey: .msiKey)
        try fields.encode(sender, forKey: .sender)
        try fields.encode(timestamp, forKey: .timestamp)
        try fields.encodeIfPresent(approval, forKey: .approval)
        try fields.encodeIfPresent(followUps, forKey: .followUps)
        try fields.encodeIfPresent(followUpTopics, forKey: .followUpTopics)
        try fields.encodeIfPresent(receipts, forKey: .receipts)
        try fields.encode(names, forKey: .names)
        try fields.encode(expires, forKey: .expires)
        try fields.encodeIfPresent(idempotencyKey, forKey: .idempotencyKey)
        try fields.encodeIfPresent(traceparent, forKey: .traceparent)
        try fields.encode(relay, forKey: .relay)
    }
}

/// The names of a subject, its area and its channel.
package struct CubeNames: Codable, Checked, Hashable, Sendable {
    package var channel: String
    package var area: String
    package var subject: String

    package init(channel: String, area: String, subject: String) {
        self.channel = channel
        self.area = area
        self.subject = subject
    }
    private enum CodingKeys: CodingKey, CaseIterable {
        case channel, area, subject
    }

    package func check() throws(SchemaViolation) {
        let limits = TextLimits.name.stored
        try limits.check(channel, CodingKeys.channel)
        try limits.check(area, CodingKeys.area)
        try limits.check(subject, CodingKeys.subject)
    }
}

/// How many phones have reported a message. Phones whose students do not want to report are not counted.
package struct MessageReceipts: Codable, Hashable, Sendable {
    /// The phones that it has arrived on.
    package var received: Int64
    /// The phones on which it was opened.
    package var opened: Int64

    package init(received: Int64, opened: Int64) {
        self.received = received
        self.opened = opened
    }
}
