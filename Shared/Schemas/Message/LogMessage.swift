package import JSON

/// `message.log`: stores a message durably and takes charge of relaying it. Sending it again with the same `msi_key`
/// changes nothing and answers with the stored message.
///
/// The header's `actor` is required: it becomes the message's `sender`.
package struct LogMessage: Command, Checked {
    package static let name = "message.log"

    /// The stored message: that of an earlier command if the `msi_key` or the sender's idempotency key was known.
    package struct Reply: Codable, Hashable, Sendable {
        package let message: Message

        package init(message: Message) {
            self.message = message
        }
    }

    package let msiKey: ObjectID
    package let draft: MessageDraft
    package let timestamp: UnixMilliseconds
    package let names: CubeNames
    package let expires: UnixMilliseconds
    package let idempotencyKey: String?
    /// Whether another account must approve it before it goes out; absent for no.
    package let approval: Bool?

    package init(
        msiKey: ObjectID, draft: MessageDraft, timestamp: UnixMilliseconds, names: CubeNames, expires: UnixMilliseconds,
        idempotencyKey: String? = nil, approval: Bool? = nil
    ) {
        self.msiKey = msiKey
        self.draft = draft
        self.timestamp = timestamp
        self.names = names
        self.expires = expires
        self.idempotencyKey = idempotencyKey
        self.approval = approval
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case msiKey = "msi_key"
        case draft, timestamp, names, expires, approval
        case idempotencyKey = "idempotency_key"
    }

    package func check() throws(SchemaViolation) {
        try (0...maximumUnixMilliseconds).check(timestamp, CodingKeys.timestamp)
        try (0...maximumUnixMilliseconds).check(expires, CodingKeys.expires)
        try TextLimits.idempotencyKey.check(idempotencyKey, CodingKeys.idempotencyKey)
        do {
            try draft.checkBlanks()
        } catch {
            throw SchemaViolation(field: "draft.\(error.field)", problem: error.problem)
        }
    }
}
