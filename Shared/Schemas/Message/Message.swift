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
    /// The time in seconds between its post and its going out.
    package var delay: Seconds?
    /// Whether it is a drill: its title says so. Absent for no.
    package var drill: Bool?
    /// The `msi_key` of an earlier message that it follows. That message may have been removed since.
    package var follows: ObjectID?
    /// Whether it corrects the message that it follows. Absent for no.
    package var correction: Bool?
    /// The template that its texts were made from. The template may have been changed or deleted since.
    package var template: ObjectID?
    /// What the template's blanks were filled with.
    package var values: [String: String]?
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
    /// The W3C trace context of the request that posted it, which each attempt to relay it continues. Messages of earlier versions have
    /// none.
    package var traceparent: String?
    package var relay: RelayRecord

    private enum CodingKeys: String, CodingKey {
        case id = "_id"
        case msiKey = "msi_key"
        case title, desc, message
        case topicKey = "topic_key"
        case distribution, sender, timestamp, ttl, options, names, expires, delay, drill, follows, correction, template, values
        case approval, receipts, traceparent
        case followUps = "follow_ups"
        case followUpTopics = "follow_up_topics"
        case sendAt = "send_at"
        case idempotencyKey = "idempotency_key"
        case relay
    }

    package init(
        id: ObjectID = ObjectID(), msiKey: ObjectID, draft: MessageDraft, sender: String, timestamp: UnixMilliseconds,
        names: CubeNames, expires: UnixMilliseconds, idempotencyKey: String? = nil, approval: Bool? = nil, relay: RelayRecord
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
        delay = draft.delay
        drill = draft.drill
        follows = draft.follows
        correction = draft.correction
        template = draft.template
        values = draft.values
        self.sender = sender
        self.timestamp = timestamp
        self.names = names
        self.expires = expires
        self.idempotencyKey = idempotencyKey
        self.approval = approval
        self.relay = relay
    }

    /// The message without what the hub has added.
    package var draft: MessageDraft {
        MessageDraft(
            title: title, desc: desc, message: message, topicKey: topicKey, distribution: distribution, ttl: ttl,
            sendAt: sendAt, options: options, delay: delay, drill: drill, follows: follows,
            correction: correction, template: template, values: values)
    }

    /// The time before which it does not go out; `nil` for at once.
    ///
    /// - Parameter now: If the clock was set back since the post, a delay is counted from now.
    package func notBefore(at now: UnixMilliseconds) -> UnixMilliseconds? {
        sendAt ?? delay.map { min(timestamp, now) + Milliseconds($0) }
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
