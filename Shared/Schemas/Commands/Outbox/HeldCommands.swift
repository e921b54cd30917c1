package import Base

/// `outbox.held`: the messages and pushes that are held since a restore, in the order of their keys, the oldest first.
package struct ListHeld: Command, Checked {
    package static let name = "outbox.held"

    package struct Reply: Codable, Hashable, Sendable {
        package let items: [HeldItem]
        /// How many there are in all.
        package let count: Int
        /// The `after` of the next page; absent on the last one.
        package let next: ObjectID?

        package init(items: [HeldItem], count: Int, next: ObjectID?) {
            self.items = items
            self.count = count
            self.next = next
        }
    }

    /// The maximum number of items of a page.
    package static let maxPerPage = 1_000

    package let limit: Int
    /// The `next` of the previous page; `nil` for the first one.
    package let after: ObjectID?

    package init(limit: Int = maxPerPage, after: ObjectID? = nil) {
        self.limit = limit
        self.after = after
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case limit, after
    }

    package func check() throws(SchemaViolation) {
        try (1...Self.maxPerPage).check(limit, CodingKeys.limit)
    }
}

/// A message or a push that is held since a restore: what the operator needs to decide about it.
package struct HeldItem: Codable, Hashable, Sendable {
    package enum Kind: String, ClosedEnum {
        case message, push
    }

    /// The `msi_key` of a message, or the `push_id` of a push.
    package let key: ObjectID
    package let kind: Kind
    package let sender: String
    /// When it was accepted.
    package let accepted: UnixMilliseconds
    package let expires: UnixMilliseconds
    /// The scheduled time; absent for at once.
    package let notBefore: UnixMilliseconds?
    /// Whether it waits for an approval as well. Absent for no.
    package let needsApproval: Bool?
    /// How often a relay had taken it when the backup was made.
    package let attempts: Int
    /// The names of a message's channel, area and subject.
    package let names: CubeNames?
    /// The title of a message.
    package let title: String?
    /// The fairness key of a push.
    package let fairnessKey: String?

    private enum CodingKeys: String, CodingKey {
        case key, kind, sender, accepted, expires, attempts, names, title
        case notBefore = "not_before"
        case needsApproval = "needs_approval"
        case fairnessKey = "fairness_key"
    }

    package init(
        key: ObjectID, kind: Kind, sender: String, accepted: UnixMilliseconds, expires: UnixMilliseconds,
        notBefore: UnixMilliseconds?, needsApproval: Bool?, attempts: Int, names: CubeNames?, title: String?, fairnessKey: String?
    ) {
        self.key = key
        self.kind = kind
        self.sender = sender
        self.accepted = accepted
        self.expires = expires
        self.notBefore = notBefore
        self.needsApproval = needsApproval
        self.attempts = attempts
        self.names = names
        self.title = title
        self.fairnessKey = fairnessKey
    }
}

/// `outbox.release`: lets messages and pushes go out that are held since a restore, at their time if that is later. A message that
/// needs an approval then waits for it.
///
/// The header's `actor` is required: the traces name it in `by`.
package struct ReleaseHeld: Command, Checked {
    package static let name = "outbox.release"
    package typealias Reply = HeldOutcome

    /// Keys of ``HeldItem``s.
    package let keys: [ObjectID]

    package init(keys: [ObjectID]) {
        self.keys = keys
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case keys
    }

    package func check() throws(SchemaViolation) {
        try HeldOutcome.check(keys, CodingKeys.keys)
    }
}

/// `outbox.discard`: withdraws messages and pushes that are held since a restore. They end as `recalled`.
///
/// The header's `actor` is required: the traces name it in `by`.
package struct DiscardHeld: Command, Checked {
    package static let name = "outbox.discard"
    package typealias Reply = HeldOutcome

    /// Keys of ``HeldItem``s.
    package let keys: [ObjectID]

    package init(keys: [ObjectID]) {
        self.keys = keys
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case keys
    }

    package func check() throws(SchemaViolation) {
        try HeldOutcome.check(keys, CodingKeys.keys)
    }
}

/// What has become of held items, each by itself.
package struct HeldOutcome: Codable, Hashable, Sendable {
    /// An item that was not changed, and why.
    package struct Refusal: Codable, Hashable, Sendable {
        package let key: ObjectID
        package let status: ReplyStatus
        package let message: String

        package init(key: ObjectID, status: ReplyStatus, message: String) {
            self.key = key
            self.status = status
            self.message = message
        }
    }

    /// The maximum number of keys in a command. Each is a separate write.
    package static let maxKeys = 100

    package var done: [ObjectID]
    package var refused: [Refusal]

    package init(done: [ObjectID] = [], refused: [Refusal] = []) {
        self.done = done
        self.refused = refused
    }

    static func check(_ keys: [ObjectID], _ field: some CodingKey) throws(SchemaViolation) {
        guard (1...maxKeys).contains(keys.count) else {
            throw SchemaViolation(field: field.stringValue, problem: "expected 1 to \(maxKeys) keys")
        }
    }
}
