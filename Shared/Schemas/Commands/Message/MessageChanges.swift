package import Base

/// A message that was logged or edited, or has another state now, with what a list of messages shows about it.
package struct MessageChange: Codable, Hashable, Sendable {
    package let msiKey: ObjectID
    package let topicKey: TopicKey
    package let state: RelayState
    package let timestamp: UnixMilliseconds
    /// When the message got this state. Of two changes of one message, the later one counts.
    package let changed: UnixMilliseconds
    package let title: String
    package let sender: String

    package init(_ message: Message, at changed: UnixMilliseconds) {
        msiKey = message.msiKey
        topicKey = message.topicKey
        state = message.relay.state
        timestamp = message.timestamp
        self.changed = changed
        title = message.title
        sender = message.sender
    }

    private enum CodingKeys: String, CodingKey {
        case msiKey = "msi_key"
        case topicKey = "topic_key"
        case state, timestamp, changed, title, sender
    }
}

/// A position in the changes of one process of the message log.
package struct ChangePosition: Codable, Checked, Hashable, Sendable {
    /// The process: each start makes a new one.
    package let epoch: ObjectID
    /// The number of the last change up to here; 0 before the first one.
    package let number: Int64

    package init(epoch: ObjectID, number: Int64) {
        self.epoch = epoch
        self.number = number
    }

    private enum CodingKeys: CodingKey, CaseIterable {
        case epoch, number
    }

    package func check() throws(SchemaViolation) {
        try (0...Int64.max).check(number, CodingKeys.number)
    }
}

/// The event `message.changed`: messages were logged or edited, or have another state. It names the latest change only, at most every 50
/// milliseconds; ``ReadMessageChanges`` reads the changes.
package struct MessageChanged: Codable, Hashable, Sendable {
    /// The event's name on the bus.
    package static let name = "message.changed"

    package let position: ChangePosition

    package init(position: ChangePosition) {
        self.position = position
    }
}

/// `message.changes`: the latest changes of messages that this process of the message log has made, oldest first. Each process
/// keeps a limited number in memory. With several processes, ask each of them.
package struct ReadMessageChanges: Command, Checked {
    package static let name = "message.changes"

    package struct Reply: Codable, Hashable, Sendable {
        package let epoch: ObjectID
        /// The number of the first of ``changes``, or of the next change if there are none. If it does not follow the position that
        /// was asked for, or the epoch is another, changes in between are lost.
        package let first: Int64
        package let changes: [MessageChange]
        /// The number of the process's latest change. If it is higher than that of the last change in this reply, there are more.
        package let latest: Int64

        package init(epoch: ObjectID, first: Int64, changes: [MessageChange], latest: Int64) {
            self.epoch = epoch
            self.first = first
            self.changes = changes
            self.latest = latest
        }
    }

    /// The maximum number of changes of a reply.
    package static let maxPerReply: Int64 = 200

    /// The position of the last change that the caller knows; `nil` to get all changes that are kept.
    package let after: ChangePosition?
    /// The number of changes, 1 to ``maxPerReply``.
    package let limit: Int64

    package init(after: ChangePosition?, limit: Int64 = maxPerReply) {
        self.after = after
        self.limit = limit
    }

    private enum CodingKeys: CodingKey, CaseIterable {
        case after, limit
    }

    package func check() throws(SchemaViolation) {
        try (1...Self.maxPerReply).check(limit, CodingKeys.limit)
    }
}
