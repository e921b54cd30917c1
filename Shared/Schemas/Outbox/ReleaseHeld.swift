package import JSON

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

    /// The maximum number of keys in a command. Each is a write of its own.
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
