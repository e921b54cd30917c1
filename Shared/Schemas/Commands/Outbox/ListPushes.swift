package import Base

/// `push.list`: the pushes of a sender whose idempotency keys begin with a text and are longer, in the order of the keys' bytes. They are
/// without their messages, and their recipients are counted. The blocks of a message's pushes to browsers have keys that begin with its
/// `msi_key` and a slash.
package struct ListPushes: Command, Checked, Hashable {
    package static let name = "push.list"

    package struct Reply: Codable, Hashable, Sendable {
        package let pushes: [PushSummary]
        /// The `after` of the next page, which may be empty; absent on the last one.
        package let next: String?

        package init(pushes: [PushSummary], next: String?) {
            self.pushes = pushes
            self.next = next
        }
    }

    /// The maximum number of pushes of a page. Each may have 1,000 recipients to count.
    package static let maxPerPage = 100

    package let sender: String
    package let keyPrefix: String
    /// The `next` of the previous page; `nil` for the first one.
    package let after: String?
    package let limit: Int

    package init(sender: String, keyPrefix: String, after: String? = nil, limit: Int = maxPerPage) {
        self.sender = sender
        self.keyPrefix = keyPrefix
        self.after = after
        self.limit = limit
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case sender, after, limit
        case keyPrefix = "key_prefix"
    }

    package func check() throws(SchemaViolation) {
        try TextLimits.sender.check(sender, CodingKeys.sender)
        try TextLimits.idempotencyKey.check(keyPrefix, CodingKeys.keyPrefix)
        try TextLimits.idempotencyKey.check(after, CodingKeys.after)
        try (1...Self.maxPerPage).check(limit, CodingKeys.limit)
    }
}

/// A push without its message, and with the number of its recipients in each state.
package struct PushSummary: Codable, Hashable, Sendable {
    package let pushID: ObjectID
    package let idempotencyKey: String
    package let transport: PushTransport
    package let state: RelayState
    package let attempts: Int
    /// When it ended; absent before.
    package let ended: UnixMilliseconds?
    /// How many recipients are in each state that any is in, by the names of ``DeliveryState``.
    package let recipients: [String: Int]
    /// The error of a recipient that has not got it; absent if none has one. One of an app or a browser that is gone is shown only if there
    /// is no other.
    package let error: DeliveryError?

    private enum CodingKeys: String, CodingKey {
        case transport, state, attempts, ended, recipients, error
        case pushID = "push_id"
        case idempotencyKey = "idempotency_key"
    }

    package init(_ push: Push) {
        pushID = push.id
        idempotencyKey = push.idempotencyKey
        transport = push.transport
        state = push.relay.state
        attempts = push.relay.attempts
        ended = push.relay.ended
        recipients = Dictionary(push.relay.recipients.map { ($0.state.rawValue, 1) }, uniquingKeysWith: +)
        let errors = push.relay.recipients.lazy.filter { $0.state != .accepted }.compactMap(\.error)
        error = errors.first { !$0.isUnregistered } ?? errors.first
    }
}
