package import Base

/// `message.log`: stores a message durably and takes charge of relaying it. Sending it again with the same `msi_key`
/// changes nothing and answers with the stored message, `{"known":{…}}`. The answer for a new message is empty.
///
/// The header's `actor` is required: it becomes the message's `sender`.
package struct LogMessage: Command, Checked {
    package static let name = "message.log"

    package struct Reply: Codable, Hashable, Sendable {
        /// The message of an earlier command, if the `msi_key` or the sender's idempotency key was known. Absent if the message of this
        /// command was stored, of which the caller knows everything.
        package let known: Message?

        package init(known: Message?) {
            self.known = known
        }
    }

    package let msiKey: ObjectID
    package let content: MessageContent
    package let timestamp: UnixMilliseconds
    package let names: CubeNames
    package let expires: UnixMilliseconds
    package let idempotencyKey: String?
    /// Whether another account must approve it before it goes out; absent for no.
    package let approval: Bool?

    package init(
        msiKey: ObjectID, content: MessageContent, timestamp: UnixMilliseconds, names: CubeNames, expires: UnixMilliseconds,
        idempotencyKey: String? = nil, approval: Bool? = nil
    ) {
        self.msiKey = msiKey
        self.content = content
        self.timestamp = timestamp
        self.names = names
        self.expires = expires
        self.idempotencyKey = idempotencyKey
        self.approval = approval
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case msiKey = "msi_key"
        case content = "draft"
        case timestamp, names, expires, approval
        case idempotencyKey = "idempotency_key"
    }

    package func check() throws(SchemaViolation) {
        try (0...maximumUnixMilliseconds).check(timestamp, CodingKeys.timestamp)
        try (0...maximumUnixMilliseconds).check(expires, CodingKeys.expires)
        try TextLimits.idempotencyKey.check(idempotencyKey, CodingKeys.idempotencyKey)
    }
}

/// `message.edit`: replaces what a message says, and when it goes out.
///
/// It fails with `conflict` unless the message is scheduled for later and no relay has had it, or it is held for an approval. A message
/// that needs an approval, or now belongs to a subject that requires one, is held afterwards.
///
/// The header's `actor` is required: the message's trace names it in `by`.
package struct EditMessage: Command, Checked {
    package static let name = "message.edit"
    package typealias Reply = Message

    package let msiKey: ObjectID
    /// The new message. It has the topic, the distribution, `follows` and `correction` of the stored one, and no `delay`, which would
    /// count from the post.
    package let content: MessageContent
    package let names: CubeNames
    package let expires: UnixMilliseconds
    /// Whether another account must approve it before it goes out; absent for no.
    package let approval: Bool?
    /// The time of the last edit that the author has seen, 0 for none; `nil` if the author does not say.
    package let edited: UnixMilliseconds?

    package init(
        msiKey: ObjectID, content: MessageContent, names: CubeNames, expires: UnixMilliseconds, approval: Bool? = nil,
        edited: UnixMilliseconds? = nil
    ) {
        self.msiKey = msiKey
        self.content = content
        self.names = names
        self.expires = expires
        self.approval = approval
        self.edited = edited
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case msiKey = "msi_key"
        case content = "draft"
        case names, expires, approval, edited
    }

    package func check() throws(SchemaViolation) {
        try (0...maximumUnixMilliseconds).check(expires, CodingKeys.expires)
        try (0...maximumUnixMilliseconds).check(edited, CodingKeys.edited)
        guard content.delay == nil else {
            throw SchemaViolation(field: "draft.delay", problem: "expected send_at instead: a delay counts from the post")
        }
    }
}

/// `message.approve`: lets a held message go out, at its time if that is later.
///
/// It fails with `forbidden` if the actor is the message's sender or has edited it, and with `conflict` if the message is not held, has
/// expired, or was edited after the approver has read it.
///
/// The header's `actor` is required: the message's trace names it in `by`.
package struct ApproveMessage: Command, Checked {
    package static let name = "message.approve"
    package typealias Reply = Message

    package let msiKey: ObjectID
    /// The time of the last edit that the approver has seen; absent for none.
    package let edited: UnixMilliseconds?

    package init(msiKey: ObjectID, edited: UnixMilliseconds? = nil) {
        self.msiKey = msiKey
        self.edited = edited
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case msiKey = "msi_key"
        case edited
    }

    package func check() throws(SchemaViolation) {
        try (0...maximumUnixMilliseconds).check(edited, CodingKeys.edited)
    }
}

/// `message.recall`: recalls a message that has not gone out. The message stays in the archive, as recalled.
///
/// It fails with `conflict` if the message is being relayed or has ended, or if FCM has accepted one of its components.
///
/// The header's `actor` is required: the message's trace names it in `by`.
package struct RecallMessage: Command, Checked {
    package static let name = "message.recall"
    package typealias Reply = Message

    package let msiKey: ObjectID
    /// Why, for the trace; `nil` for none.
    package let reason: String?

    package init(msiKey: ObjectID, reason: String? = nil) {
        self.msiKey = msiKey
        self.reason = reason
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case msiKey = "msi_key"
        case reason
    }

    package func check() throws(SchemaViolation) {
        try TextLimits.reason.check(reason, CodingKeys.reason)
    }
}

/// `message.retry`: sends the failed components of a failed message again.
///
/// It fails with `conflict` if the message has not failed or has expired.
///
/// The header's `actor` is required: the message's trace names it in `by`.
package struct RetryMessage: Command {
    package static let name = "message.retry"
    package typealias Reply = Message

    package let msiKey: ObjectID

    package init(msiKey: ObjectID) {
        self.msiKey = msiKey
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case msiKey = "msi_key"
    }
}

/// `message.get`: one message.
package struct GetMessage: Command {
    package static let name = "message.get"
    package typealias Reply = Message

    package let msiKey: ObjectID

    package init(msiKey: ObjectID) {
        self.msiKey = msiKey
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case msiKey = "msi_key"
    }
}

/// `message.find`: the message that the header's `actor` posted with an idempotency key. The `actor` is required.
package struct FindMessage: Command, Checked {
    package static let name = "message.find"
    package typealias Reply = Message

    package let idempotencyKey: String

    package init(idempotencyKey: String) {
        self.idempotencyKey = idempotencyKey
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case idempotencyKey = "idempotency_key"
    }

    package func check() throws(SchemaViolation) {
        try TextLimits.idempotencyKey.check(idempotencyKey, CodingKeys.idempotencyKey)
    }
}
