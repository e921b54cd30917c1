package import Base

/// `push.log`: stores a push durably and takes charge of relaying it. If it is repeated with the same idempotency key, nothing
/// changes, and the reply is the stored push. Different content with the same key is a `conflict`.
///
/// The header's `actor` is required: it is the sender.
package struct LogPush: Command, PushCommand, Checked, Hashable {
    package static let name = "push.log"

    package struct Reply: Codable, Hashable, Sendable {
        package let push: Push

        package init(push: Push) {
            self.push = push
        }
    }

    /// The sender's own key. Another sender may use the same one.
    package let idempotencyKey: String
    /// The default is ``PushTransport/fcm``.
    package let transport: PushTransport?
    package let topic: String?
    package let condition: String?
    package let tokens: [String]?
    package let fairnessKey: String
    /// The transport's own message without its recipient.
    package let message: JSONValue
    package let project: String?
    package let expires: UnixMilliseconds
    /// The scheduled time; `nil` for at once.
    package let notBefore: UnixMilliseconds?
    /// `true` if it comes from restored data: it is then held until the operator releases it (``ReleaseHeld``).
    package var held: Bool?

    package init(
        idempotencyKey: String, transport: PushTransport? = nil, recipients: [PushRecipient], fairnessKey: String,
        message: JSONValue, project: String? = nil, expires: UnixMilliseconds, notBefore: UnixMilliseconds? = nil
    ) {
        self.idempotencyKey = idempotencyKey
        self.transport = transport
        (topic, condition, tokens) = recipients.fields
        self.fairnessKey = fairnessKey
        self.message = message
        self.project = project
        self.expires = expires
        self.notBefore = notBefore
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case transport, topic, condition, tokens, message, project, expires, held
        case idempotencyKey = "idempotency_key"
        case fairnessKey = "fairness_key"
        case notBefore = "not_before"
    }

    package func check() throws(SchemaViolation) {
        try TextLimits.idempotencyKey.check(idempotencyKey, CodingKeys.idempotencyKey)
        try checkRecipients()
        try TextLimits.fairnessKey.check(fairnessKey, CodingKeys.fairnessKey)
        try TextLimits.project.check(project, CodingKeys.project)
        try (0...maximumUnixMilliseconds).check(expires, CodingKeys.expires)
        try (0...maximumUnixMilliseconds).check(notBefore, CodingKeys.notBefore)
        if let notBefore, notBefore >= expires {
            throw SchemaViolation(
                field: CodingKeys.notBefore.rawValue, problem: "expected a time before expires: the push would never be sent")
        }
    }
}

extension TextLimits {
    fileprivate static let fairnessKey = TextLimits(max: 200)
}

/// `push.get`: one push, with the outcome for each recipient.
package struct GetPush: Command, Hashable {
    package static let name = "push.get"
    package typealias Reply = Push

    package let pushID: ObjectID

    package init(pushID: ObjectID) {
        self.pushID = pushID
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case pushID = "push_id"
    }
}

/// `push.recall`: recalls a push that has not gone out to any recipient. It stays stored, as recalled.
///
/// It fails with `conflict` if the push is being relayed or has ended, or if FCM has accepted it for a recipient.
///
/// The header's `actor` is required: the push's trace names it in `by`.
package struct RecallPush: Command, Hashable {
    package static let name = "push.recall"
    package typealias Reply = Push

    package let pushID: ObjectID

    package init(pushID: ObjectID) {
        self.pushID = pushID
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case pushID = "push_id"
    }
}

/// `push.retry`: sends a failed push to its failed recipients again.
///
/// It fails with `conflict` if the push has not failed or has expired.
///
/// The header's `actor` is required: the push's trace names it in `by`.
package struct RetryPush: Command, Hashable {
    package static let name = "push.retry"
    package typealias Reply = Push

    package let pushID: ObjectID

    package init(pushID: ObjectID) {
        self.pushID = pushID
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case pushID = "push_id"
    }
}

/// The event `push.ended`: a push has ended. A subscriber that missed it can use `push.get`.
package struct PushEnded: Codable, Hashable, Sendable {
    package static let name = "push.ended"

    package let pushID: ObjectID
    package let sender: String
    package let idempotencyKey: String
    package let state: RelayState
    /// The tokens that FCM reports as unregistered. The sender should delete them.
    package let unregistered: [String]

    package init(_ push: Push) {
        pushID = push.id
        sender = push.sender
        idempotencyKey = push.idempotencyKey
        state = push.relay.state
        unregistered = push.unregistered
    }

    private enum CodingKeys: String, CodingKey {
        case pushID = "push_id"
        case idempotencyKey = "idempotency_key"
        case sender, state, unregistered
    }
}
