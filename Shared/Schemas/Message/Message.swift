package import JSON
package import Time

/// A message: a document of the `message` collection (seed, "Schema"), with further fields for its delivery to FCM.
package struct Message: Codable, Hashable, Sendable {
    package var id: ObjectID
    /// The identifier that is sent with the message. The phone drops a second copy by it.
    package var msiKey: ObjectID
    package var title: String
    package var desc: String
    package var message: String
    package var topicKey: TopicKey
    package var distribution: Distribution
    package var sender: String
    package var timestamp: UnixMilliseconds

    /// The sender's time to live in seconds from the time when it goes out; `nil` if the sender set none.
    package var ttl: Seconds?
    /// The scheduled time; `nil` for at once.
    package var sendAt: UnixMilliseconds?
    /// How FCM and the phones treat it.
    package var options: DeliveryOptions?
    /// The names of its channel, area and subject when it was sent.
    package var names: CubeNames
    /// When it expires.
    package var expires: UnixMilliseconds
    /// The client's key for this POST and its retries, if there is one.
    package var idempotencyKey: String?
    package var relay: RelayRecord

    private enum CodingKeys: String, CodingKey {
        case id = "_id"
        case msiKey = "msi_key"
        case title, desc, message
        case topicKey = "topic_key"
        case distribution, sender, timestamp, ttl, options, names, expires
        case sendAt = "send_at"
        case idempotencyKey = "idempotency_key"
        case relay
    }

    package init(
        id: ObjectID = ObjectID(), msiKey: ObjectID, draft: MessageDraft, sender: String, timestamp: UnixMilliseconds,
        names: CubeNames, expires: UnixMilliseconds, idempotencyKey: String? = nil, relay: RelayRecord
    ) {
        self.id = id
        self.msiKey = msiKey
        title = draft.title
        desc = draft.desc
        message = draft.message
        topicKey = draft.topicKey
        distribution = draft.distribution
        ttl = draft.ttl
        sendAt = draft.sendAt
        options = draft.options
        self.sender = sender
        self.timestamp = timestamp
        self.names = names
        self.expires = expires
        self.idempotencyKey = idempotencyKey
        self.relay = relay
    }

    /// The portal's post.
    package var draft: MessageDraft {
        MessageDraft(
            title: title, desc: desc, message: message, topicKey: topicKey, distribution: distribution, ttl: ttl,
            sendAt: sendAt, options: options)
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
        try TextLimits.name.check(channel, CodingKeys.channel)
        try TextLimits.name.check(area, CodingKeys.area)
        try TextLimits.name.check(subject, CodingKeys.subject)
    }
}
