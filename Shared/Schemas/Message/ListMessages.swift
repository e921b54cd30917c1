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
