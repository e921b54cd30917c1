package import Base

/// A message from one person to another, as both see it.
///
/// The hub removes it once the recipient has read it and each of their active devices has it. Then only the marks of its
/// ``Conversation`` are left.
package struct DirectMessage: Codable, Hashable, Sendable {
    package let id: ObjectID
    package let from: AccountName
    package let to: AccountName
    /// Its place in the conversation: the same for both, and greater than that of every earlier message. Numbers may be missing.
    package let number: Int64
    package let at: UnixMilliseconds
    /// Absent for a picture.
    package let text: String?
    package let picture: PictureInfo?
    /// `true` in the answer to a repeated request if the hub has removed the text or the picture since; absent otherwise.
    package let removed: Bool?

    package init(
        id: ObjectID, from: AccountName, to: AccountName, number: Int64, at: UnixMilliseconds, text: String?,
        picture: PictureInfo?, removed: Bool = false
    ) {
        self.id = id
        self.from = from
        self.to = to
        self.number = number
        self.at = at
        self.text = text
        self.picture = picture
        self.removed = removed ? true : nil
    }
}

/// The body of `POST /user/messages`: a text, or a picture that was uploaded before.
///
/// `{"to":"bob-roy","text":"Are you coming at three?"}`
package struct DirectMessageDraft: Codable, Checked, Hashable, Sendable {
    package let to: AccountName
    package let text: String?
    /// The id of an ``UploadedPicture``.
    package let picture: ObjectID?

    package init(to: AccountName, text: String? = nil, picture: ObjectID? = nil) {
        self.to = to
        self.text = text
        self.picture = picture
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case to, text, picture
    }

    package func check() throws(SchemaViolation) {
        try MessagingLimits.text.check(text, CodingKeys.text)
        guard (text == nil) != (picture == nil) else {
            throw SchemaViolation(CodingKeys.text, "expected either a text or a picture")
        }
    }
}

/// A conversation as one of its two persons sees it, without its messages. Its marks stay when messages are removed.
package struct Conversation: Codable, Hashable, Sendable {
    /// The other person.
    package let account: AccountName
    /// The number of its last message.
    package let last: Int64
    /// How many messages of the other person are not read.
    package let unread: Int
    /// The number of the last message of the other person that is read; absent for none.
    package let seen: Int64?
    /// Up to which number messages of the other person were removed. A device that does not have them all does not get them any
    /// more.
    package let removed: Int64?
    /// Up to which number a device of the other person has the caller's messages; absent for none.
    package let delivered: Int64?
    /// Up to which number the other person has read them; absent for none, and if one of the two has switched off read marks.
    package let read: Int64?
    /// Up to which number messages of the caller were removed because they had waited for too long.
    package let expired: Int64?

    package init(
        account: AccountName, last: Int64, unread: Int, seen: Int64?, removed: Int64?, delivered: Int64?, read: Int64?,
        expired: Int64?
    ) {
        self.account = account
        self.last = last
        self.unread = unread
        self.seen = seen
        self.removed = removed
        self.delivered = delivered
        self.read = read
        self.expired = expired
    }
}

/// What is new for a person since a position: the answer of `GET /user/messages`.
package struct MessageNews: Codable, Hashable, Sendable {
    /// Of both directions, in the order in which they came.
    package let messages: [DirectMessage]
    /// The conversations that are not as they were.
    package let conversations: [Conversation]
    /// The position behind all that: the `after` of the next request, and what a device confirms that it has stored.
    package let after: Int64
    /// `true` if there is more behind it; absent otherwise.
    package let more: Bool?
    package let now: UnixMilliseconds

    package init(
        messages: [DirectMessage], conversations: [Conversation], after: Int64, more: Bool, now: UnixMilliseconds
    ) {
        self.messages = messages
        self.conversations = conversations
        self.after = after
        self.more = more ? true : nil
        self.now = now
    }
}

/// The messages of a conversation that the hub still has: the answer of `GET /user/conversations/{account}`.
package struct ConversationPage: Codable, Hashable, Sendable {
    /// The newest first.
    package let messages: [DirectMessage]
    package let conversation: Conversation
    /// The `before` of the next page; absent on the last one.
    package let next: Int64?
    package let now: UnixMilliseconds

    package init(messages: [DirectMessage], conversation: Conversation, next: Int64?, now: UnixMilliseconds) {
        self.messages = messages
        self.conversation = conversation
        self.next = next
        self.now = now
    }
}
