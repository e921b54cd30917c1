package import JSON

/// `message.list`: one page of the archive's messages that match a filter, newest first.
package struct ListMessages: Command, Checked {
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

    /// The maximum number of messages of a page.
    package static let maxPerPage: Int64 = 200
    /// The maximum number of topics that fit into a command with everything else.
    package static let maxTopics = 10_000

    /// The number of messages, 1 to ``maxPerPage``.
    package let limit: Int64
    /// The `next` of the previous page; `nil` for the newest messages.
    package let before: PageCursor?
    /// The filter; without it, all messages match.
    package var filter: MessageFilter { givenFilter ?? MessageFilter() }
    private let givenFilter: MessageFilter?

    package init(limit: Int64, before: PageCursor? = nil, filter: MessageFilter = MessageFilter()) {
        self.limit = limit
        self.before = before
        givenFilter = filter
    }

    /// The same page of the messages of these topics; `nil` for all topics.
    package func restricted(to topics: [TopicKey]?) -> ListMessages {
        var filter = filter
        filter.topics = topics
        return ListMessages(limit: limit, before: before, filter: filter)
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case limit, before
        case givenFilter = "filter"
    }

    package func check() throws(SchemaViolation) {
        try (1...Self.maxPerPage).check(limit, CodingKeys.limit)
    }
}
