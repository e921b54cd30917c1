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
    /// Persons, all of whose devices get the push that have not switched off its ``kind``. The message log asks the people service for
    /// the devices when it relays the push.
    package let accounts: [AccountName]?
    /// A device that does not get it, such as the one whose person has caused it. Only with ``accounts``.
    package let exceptDevice: ObjectID?
    /// The kind of a push to ``accounts``, which requires it.
    package let kind: PushKind?
    package let fairnessKey: String
    /// The transport's own message without its recipient; with ``accounts`` a ``PersonPush``.
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
        accounts = nil
        exceptDevice = nil
        kind = nil
        self.fairnessKey = fairnessKey
        self.message = message
        self.project = project
        self.expires = expires
        self.notBefore = notBefore
    }

    /// A push to persons. Neither key may contain a person's name: both stay when the person is erased.
    package init(
        idempotencyKey: String, accounts: [AccountName], kind: PushKind, except device: ObjectID? = nil, fairnessKey: String,
        message: PersonPush, expires: UnixMilliseconds, notBefore: UnixMilliseconds? = nil
    ) throws {
        self.idempotencyKey = idempotencyKey
        (transport, topic, condition, tokens, project) = (nil, nil, nil, nil, nil)
        self.accounts = accounts
        exceptDevice = device
        self.kind = kind
        self.fairnessKey = fairnessKey
        self.message = try JSONValue(encoding: message)
        self.expires = expires
        self.notBefore = notBefore
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case transport, topic, condition, tokens, accounts, kind, message, project, expires, held
        case idempotencyKey = "idempotency_key"
        case exceptDevice = "except_device"
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
        try checkPersons()
    }

    private func checkPersons() throws(SchemaViolation) {
        guard accounts != nil else {
            let field: CodingKeys? = exceptDevice != nil ? .exceptDevice : kind != nil ? .kind : nil
            if let field { throw SchemaViolation(field, "expected none: only a push to accounts has it") }
            return
        }
        guard kind != nil else { throw SchemaViolation(CodingKeys.kind, "missing: a push to accounts needs its kind") }
        guard transport == nil, project == nil else {
            throw SchemaViolation(
                transport != nil ? CodingKeys.transport : .project, "expected none: each device has its own transport")
        }
        do {
            _ = try PersonPush(message)
        } catch let violation as SchemaViolation {
            throw violation.isWhole
                ? SchemaViolation(CodingKeys.message, violation.problem)
                : SchemaViolation(field: "message.\(violation.field)", problem: violation.problem)
        } catch {
            throw SchemaViolation(CodingKeys.message, "not valid")
        }
    }
}

extension SchemaViolation {
    /// Whether it concerns a whole document, and not one of its fields.
    fileprivate var isWhole: Bool { field.isEmpty }
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
