/// The state of a push's delivery: its field `relay`, with an outcome for each recipient.
package struct PushRecord: Codable, DeliveryRecord {
    package var state: RelayState
    package var attempts: Int
    package var nextAttempt: UnixMilliseconds?
    package var lease: Lease?
    package var ended: UnixMilliseconds?
    /// In the order of the command.
    package var recipients: [RecipientRecord]
    package var trace: [Intervention]?

    package var parts: [RecipientRecord] {
        get { recipients }
        set { recipients = newValue }
    }

    private enum CodingKeys: String, CodingKey {
        case state, attempts, lease, ended, recipients, trace
        case nextAttempt = "next_attempt"
    }

    package init(
        state: RelayState, attempts: Int, nextAttempt: UnixMilliseconds?, lease: Lease? = nil,
        ended: UnixMilliseconds? = nil, recipients: [RecipientRecord], trace: [Intervention]? = nil
    ) {
        self.state = state
        self.attempts = attempts
        self.nextAttempt = nextAttempt
        self.lease = lease
        self.ended = ended
        self.recipients = recipients
        self.trace = trace
    }

    /// The record of a newly logged push.
    ///
    /// - Parameter due: The time from which it is due.
    package init(logged recipients: [PushRecipient], due: UnixMilliseconds) {
        self.init(
            state: .pending, attempts: 0, nextAttempt: due, recipients: recipients.map { RecipientRecord(recipient: $0) })
    }
}

/// One recipient of a push, and its outcome: `{"token":"…","state":"accepted","name":"projects/p/messages/0:15…"}`.
package struct RecipientRecord: Hashable, DeliveryPart {
    package var recipient: PushRecipient
    package var state: DeliveryState
    package var name: String?
    /// When FCM has accepted it, by the clock of the message log. Absent before, and in records of earlier versions.
    package var acceptedAt: UnixMilliseconds?
    package var error: DeliveryError?

    package init(
        recipient: PushRecipient, state: DeliveryState = .pending, name: String? = nil, acceptedAt: UnixMilliseconds? = nil,
        error: DeliveryError? = nil
    ) {
        self.recipient = recipient
        self.state = state
        self.name = name
        self.acceptedAt = acceptedAt
        self.error = error
    }

    package func isSamePart(as other: RecipientRecord) -> Bool { recipient == other.recipient }

    /// Whether FCM reports that the app is no longer installed. The sender should delete the token.
    package var isUnregistered: Bool { recipient.token != nil && state == .failed && error?.isUnregistered == true }
}

extension RecipientRecord: Codable {
    private enum CodingKeys: String, CodingKey {
        case state, name, error
        case acceptedAt = "accepted_at"
    }

    package init(from decoder: any Decoder) throws {
        let recipients = try decoder.container(keyedBy: PushRecipient.Field.self)
        guard let field = PushRecipient.Field.allCases.first(where: recipients.contains) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "expected a topic, a condition or a token"))
        }
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            recipient: PushRecipient(field, try recipients.decode(String.self, forKey: field)),
            state: try container.decode(DeliveryState.self, forKey: .state),
            name: try container.decodeIfPresent(String.self, forKey: .name),
            acceptedAt: try container.decodeIfPresent(UnixMilliseconds.self, forKey: .acceptedAt),
            error: try container.decodeIfPresent(DeliveryError.self, forKey: .error))
    }

    package func encode(to encoder: any Encoder) throws {
        var recipients = encoder.container(keyedBy: PushRecipient.Field.self)
        try recipients.encode(recipient.text, forKey: recipient.field)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(state, forKey: .state)
        try container.encodeIfPresent(name, forKey: .name)
        try container.encodeIfPresent(acceptedAt, forKey: .acceptedAt)
        try container.encodeIfPresent(error, forKey: .error)
    }
}
