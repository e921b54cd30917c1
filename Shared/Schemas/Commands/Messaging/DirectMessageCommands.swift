package import Base

// The commands about messages between persons. The header's `actor` is required: it is the person. The service asks the people
// service (``CheckFriends``) whom the person may write to. Another person is `not_found` where that one is no friend, whatever
// the reason.

/// `direct_message.send`: a new message to a friend, or to a classmate if ``classmate`` says so.
///
/// - `not_found` with the field `to` if the two may not write to each other, and with the field `picture` for a picture that the
///   caller has not uploaded or that has expired.
/// - `conflict` with the field `to` if too many messages wait for the recipient, and with `request_key` if the key was used for
///   another message. A repeated command with the same key gets the same message.
/// - `overloaded` with `retry_after` at ``MessagingRules/perMinute``.
package struct SendDirectMessage: Command {
    package static let name = "direct_message.send"
    package typealias Reply = DirectMessage

    package let draft: DirectMessageDraft
    /// `true` if the hub lets classmates write to each other and the study service says that the two are in a class together;
    /// absent otherwise.
    package let classmate: Bool?
    package let requestKey: String?

    package init(_ draft: DirectMessageDraft, classmate: Bool = false, requestKey: String? = nil) {
        self.draft = draft
        self.classmate = classmate ? true : nil
        self.requestKey = requestKey
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case draft, classmate
        case requestKey = "request_key"
    }
}

extension SendDirectMessage: Checked {
    package func check() throws(SchemaViolation) {
        try TextLimits.idempotencyKey.check(requestKey, CodingKeys.requestKey)
    }
}

/// `direct_message.news`: what is new for the caller since a position, the oldest first.
///
/// `overloaded` with `retry_after` for a poll: it finds nothing, follows no event or push, and comes sooner than
/// ``MessagingRules/poll`` after the last poll of the device.
package struct ReadMessageNews: Command, Checked {
    package static let name = "direct_message.news"
    package typealias Reply = MessageNews

    package let device: ObjectID
    /// From 0: ``MessageNews/after`` of the last answer.
    package let after: Int64
    package let limit: Int
    /// The id of the event or the push that the device follows; absent for none.
    package let prompt: ObjectID?

    package init(on device: ObjectID, after: Int64, limit: Int, prompt: ObjectID? = nil) {
        self.device = device
        self.after = after
        self.limit = limit
        self.prompt = prompt
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case device, after, limit, prompt
    }

    package func check() throws(SchemaViolation) {
        try (0...Int64.max).check(after, CodingKeys.after)
        try MessagingLimits.page.check(limit, CodingKeys.limit)
    }
}

/// `direct_message.received`: a device has stored everything up to a position, with the bytes of the pictures. Repeated, or
/// with an earlier position, it changes nothing.
package struct ConfirmMessages: Command, Checked {
    package static let name = "direct_message.received"
    package typealias Reply = Done

    package let device: ObjectID
    /// ``MessageNews/after``.
    package let after: Int64

    package init(on device: ObjectID, after: Int64) {
        self.device = device
        self.after = after
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case device, after
    }

    package func check() throws(SchemaViolation) {
        try (0...Int64.max).check(after, CodingKeys.after)
    }
}

/// `direct_message.read`: the caller has read a message, and all earlier ones of the other person in the conversation.
/// Repeated, it changes nothing, and so does a message that the hub does not have any more.
package struct MarkMessagesRead: Command {
    package static let name = "direct_message.read"
    package typealias Reply = Done

    package let message: ObjectID

    package init(upTo message: ObjectID) {
        self.message = message
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case message
    }
}

/// `direct_message.list`: the messages with a person that the hub still has, the newest first. `not_found` if the two may not
/// write to each other any more, or never did.
package struct ListConversation: Command, Checked {
    package static let name = "direct_message.list"
    package typealias Reply = ConversationPage

    package let account: AccountName
    package let limit: Int
    /// The ``ConversationPage/next`` of the page before; absent for the first one.
    package let before: Int64?

    package init(with account: AccountName, limit: Int, before: Int64? = nil) {
        self.account = account
        self.limit = limit
        self.before = before
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case account, limit, before
    }

    package func check() throws(SchemaViolation) {
        try MessagingLimits.page.check(limit, CodingKeys.limit)
        try (0...Int64.max).check(before, CodingKeys.before)
    }
}
