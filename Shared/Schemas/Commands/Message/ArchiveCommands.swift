package import Base

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

    /// The same page of the messages that are also of these topics; `nil` for all topics.
    package func restricted(to topics: [TopicKey]?) -> ListMessages {
        var filter = filter
        filter.restrict(to: topics)
        return ListMessages(limit: limit, before: before, filter: filter)
    }

    /// The same page with another filter.
    package func with(_ filter: MessageFilter) -> ListMessages {
        ListMessages(limit: limit, before: before, filter: filter)
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case limit, before
        case givenFilter = "filter"
    }

    package func check() throws(SchemaViolation) {
        try (1...Self.maxPerPage).check(limit, CodingKeys.limit)
    }
}

/// A filter for messages of the archive. Messages match if they meet all its conditions.
package struct MessageFilter: Codable, Checked, Hashable, Sendable {
    package var channel: ObjectID?
    package var area: ObjectID?
    package var subject: ObjectID?
    package var sender: String?
    package var state: RelayState?
    /// `true` for messages that another account than the sender recalled instead of approving them.
    package var rejected: Bool?
    /// The start of the range of `timestamp`, inclusive.
    package var from: UnixMilliseconds?
    /// The end of the range, exclusive.
    package var to: UnixMilliseconds?
    /// Words that must all occur in the title, the description or the text.
    package var text: SearchQuery?
    /// The id of the trace that posted it.
    package var traceID: TraceID?
    /// The topics that the caller may see; `nil` for all, empty for none.
    package var topics: [TopicKey]?

    package init() {}

    /// Narrows the filter to topics that are also in `others`; `nil` leaves it as it is.
    mutating func restrict(to others: [TopicKey]?) {
        guard let others else { return }
        guard let topics else {
            self.topics = others
            return
        }
        let known = Set(topics)
        self.topics = others.filter { known.contains($0) }
    }

    /// The topics that matching messages can have, each once; `nil` for all.
    package var possibleTopics: [TopicKey]? {
        guard let topics else { return nil }
        return Array(
            Set(topics).filter { topic in
                (channel ?? topic.channel) == topic.channel && (area ?? topic.area) == topic.area
                    && (subject ?? topic.subject) == topic.subject
            })
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case channel, area, subject, sender, state, rejected, from, to, text, topics
        case traceID = "trace_id"
    }

    package func check() throws(SchemaViolation) {
        try TextLimits.sender.check(sender, CodingKeys.sender)
        try (0...maximumUnixMilliseconds).check(from, CodingKeys.from)
        try (0...maximumUnixMilliseconds).check(to, CodingKeys.to)
    }
}

/// `message.statistics`: how many of the archive's messages are in which state, in total and in spans of time.
package struct CountMessages: Command, Checked {
    package static let name = "message.statistics"
    package typealias Reply = MessageStatistics

    /// The time by which a message belongs to a span.
    package enum Time: String, ClosedEnum {
        /// When it was logged.
        case timestamp
        /// When it reached its final state, such as `relayed`.
        case ended
    }

    /// The maximum number of ``edges``.
    package static let maxEdges = 200

    package let channel: ObjectID?
    package let area: ObjectID?
    package let subject: ObjectID?
    /// The edges of the spans, which ascend. Each span is from one edge to before the next one. Without edges there are no spans.
    package var edges: [UnixMilliseconds] { givenEdges ?? [] }
    private let givenEdges: [UnixMilliseconds]?
    /// By default the time when it was logged.
    package var by: Time { givenTime ?? .timestamp }
    private let givenTime: Time?
    /// The topics that the caller may see; `nil` for all, empty for none.
    package let topics: [TopicKey]?

    package init(
        channel: ObjectID? = nil, area: ObjectID? = nil, subject: ObjectID? = nil, edges: [UnixMilliseconds] = [],
        by time: Time = .timestamp, topics: [TopicKey]? = nil
    ) {
        self.channel = channel
        self.area = area
        self.subject = subject
        givenEdges = edges
        givenTime = time
        self.topics = topics
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case channel, area, subject, topics
        case givenEdges = "edges"
        case givenTime = "by"
    }

    package func check() throws(SchemaViolation) {
        guard edges.count <= Self.maxEdges else {
            throw SchemaViolation(field: CodingKeys.givenEdges.rawValue, problem: "expected at most \(Self.maxEdges) edges")
        }
        try (0...maximumUnixMilliseconds).check(each: edges, CodingKeys.givenEdges)
        guard zip(edges, edges.dropFirst()).allSatisfy(<) else {
            throw SchemaViolation(field: CodingKeys.givenEdges.rawValue, problem: "expected ascending edges")
        }
    }
}

extension CountMessages {
    /// The messages to count.
    package var filter: MessageFilter {
        var filter = MessageFilter()
        filter.channel = channel
        filter.area = area
        filter.subject = subject
        filter.topics = topics
        return filter
    }

    /// The same command about the messages that are also of these topics; `nil` for all topics.
    package func restricted(to topics: [TopicKey]?) -> CountMessages {
        var filter = filter
        filter.restrict(to: topics)
        return with(filter)
    }

    /// The same command about the messages of another channel, area, subject, and topics.
    package func with(_ filter: MessageFilter) -> CountMessages {
        CountMessages(
            channel: filter.channel, area: filter.area, subject: filter.subject, edges: edges, by: by, topics: filter.topics)
    }
}
