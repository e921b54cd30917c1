package import Base

/// `message.accepted`: the messages of all topics whose data FCM has accepted, in acceptance order. A gateway keeps a copy of
/// them, and answers thousands of phones from it (``ReadAccepted``).
package struct FollowAccepted: Command, Checked, Hashable {
    package static let name = "message.accepted"

    package struct Reply: Codable, Hashable, Sendable {
        package let messages: [AcceptedMessage]
        /// The cursor of the last one, or of an unreadable one after it, if there are more.
        package let end: PageCursor?
        /// Every message that is not stored yet will come after it in the acceptance order. It is the `next` of ``ReadAccepted`` for a
        /// reader who has read everything.
        package let watermark: PageCursor
        /// The ``ReadAccepted/Reply/waiting`` Alerts of all topics, beside the last page; absent if there are none.
        package var waiting: [PhoneMessage]?
        /// The ``ReadAccepted/Reply/recalled`` Alerts of all topics, beside the last page; absent if there are none.
        package var recalled: [RecalledAlert]?

        package init(
            messages: [AcceptedMessage], end: PageCursor?, watermark: PageCursor, waiting: [PhoneMessage]? = nil,
            recalled: [RecalledAlert]? = nil
        ) {
            self.messages = messages
            self.end = end
            self.watermark = watermark
            self.waiting = waiting
            self.recalled = recalled
        }
    }

    /// The maximum number of messages of a page.
    package static let maxPerPage = 200

    /// Where the previous page ended; `nil` for all within ``ReadAccepted/reach``.
    package let after: PageCursor?

    package init(after: PageCursor? = nil) {
        self.after = after
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case after
    }

    package func check() throws(SchemaViolation) {}
}

/// A message for phones with its time in the acceptance order.
package struct AcceptedMessage: Codable, Hashable, Sendable {
    package let accepted: UnixMilliseconds
    package let message: PhoneMessage

    package init(accepted: UnixMilliseconds, message: PhoneMessage) {
        self.accepted = accepted
        self.message = message
    }

    /// A page after it begins with the next message in the acceptance order.
    package var cursor: PageCursor { PageCursor(timestamp: accepted, msiKey: message.msiKey) }
}

/// An Alert that was recalled before FCM had accepted any of it.
package struct RecalledAlert: Codable, Hashable, Sendable {
    package let msiKey: ObjectID
    package let topicKey: TopicKey

    private enum CodingKeys: String, CodingKey {
        case msiKey = "msi_key"
        case topicKey = "topic_key"
    }

    package init(msiKey: ObjectID, topicKey: TopicKey) {
        self.msiKey = msiKey
        self.topicKey = topicKey
    }
}
