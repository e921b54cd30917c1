/// `message.log`: stores a message durably and takes charge of relaying it. Sending it again with the same `msi_key`
/// changes nothing and answers with the stored message.
package struct LogMessage: Command {
    package static let name = "message.log"

    /// The stored message: the one of an earlier command where the `msi_key`, or the sender's idempotency key, was known.
    package struct Reply: Codable, Hashable, Sendable {
        package let message: Message

        package init(message: Message) {
            self.message = message
        }
    }

    package let msiKey: ObjectID
    package let draft: MessageDraft
    package let sender: String
    package let timestamp: UnixMilliseconds
    package let names: CubeNames
    package let expires: UnixMilliseconds
    package let idempotencyKey: String?

    package init(
        msiKey: ObjectID, draft: MessageDraft, sender: String, timestamp: UnixMilliseconds, names: CubeNames,
        expires: UnixMilliseconds, idempotencyKey: String? = nil
    ) {
        self.msiKey = msiKey
        self.draft = draft
        self.sender = sender
        self.timestamp = timestamp
        self.names = names
        self.expires = expires
        self.idempotencyKey = idempotencyKey
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case msiKey = "msi_key"
        case draft, sender, timestamp, names, expires
        case idempotencyKey = "idempotency_key"
    }

    package init(from decoder: any Decoder) throws {
        let fields = try StrictFields(of: decoder, as: CodingKeys.self)
        msiKey = try fields.value(.msiKey)
        draft = try fields.value(.draft)
        sender = try fields.text(.sender, .sender)
        timestamp = try fields.integer(.timestamp, in: 0...maximumUnixMilliseconds)
        names = try fields.value(.names)
        expires = try fields.integer(.expires, in: 0...maximumUnixMilliseconds)
        idempotencyKey = try fields.optionalText(.idempotencyKey, .idempotencyKey)
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

    package init(from decoder: any Decoder) throws {
        msiKey = try StrictFields(of: decoder, as: CodingKeys.self).value(.msiKey)
    }
}

/// `message.find`: the message that a sender posted with an idempotency key.
package struct FindMessage: Command {
    package static let name = "message.find"
    package typealias Reply = Message

    package let sender: String
    package let idempotencyKey: String

    package init(sender: String, idempotencyKey: String) {
        self.sender = sender
        self.idempotencyKey = idempotencyKey
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case sender
        case idempotencyKey = "idempotency_key"
    }

    package init(from decoder: any Decoder) throws {
        let fields = try StrictFields(of: decoder, as: CodingKeys.self)
        sender = try fields.text(.sender, .sender)
        idempotencyKey = try fields.text(.idempotencyKey, .idempotencyKey)
    }
}

/// `message.list`: one page of the archive, newest first.
package struct ListMessages: Command {
    package static let name = "message.list"

    package struct Reply: Codable, Hashable, Sendable {
        package let messages: [Message]
        /// Where the next page begins; absent on the last one.
        package let next: PageCursor?

        package init(messages: [Message], next: PageCursor?) {
            self.messages = messages
            self.next = next
        }
    }

    /// The most messages that one page may have.
    package static let mostPerPage: Int64 = 200

    /// How many messages, 1 to ``mostPerPage``.
    package let limit: Int64
    /// The `next` of the page before; the newest messages without it.
    package let before: PageCursor?

    package init(limit: Int64, before: PageCursor? = nil) {
        self.limit = limit
        self.before = before
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case limit, before
    }

    package init(from decoder: any Decoder) throws {
        let fields = try StrictFields(of: decoder, as: CodingKeys.self)
        limit = try fields.integer(.limit, in: 1...Self.mostPerPage)
        before = try fields.optional(.before)
    }
}
