package import JSON

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

    /// The same command about the messages of these topics; `nil` for all topics.
    package func restricted(to topics: [TopicKey]?) -> CountMessages {
        CountMessages(channel: channel, area: area, subject: subject, edges: edges, by: by, topics: topics)
    }
}
