package import JSON

/// A filter for messages of the archive. Messages match if they meet all its conditions.
package struct MessageFilter: Codable, Checked, Hashable, Sendable {
    package var channel: ObjectID?
    package var area: ObjectID?
    package var subject: ObjectID?
    package var sender: String?
    package var state: RelayState?
    /// The start of the range of `timestamp`, inclusive.
    package var from: UnixMilliseconds?
    /// The end of the range, exclusive.
    package var to: UnixMilliseconds?
    /// Words that must all occur in the title, the description or the text.
    package var text: SearchQuery?
    /// The id of the trace that posted it. Services of earlier versions do not know it.
    package var traceID: TraceID?
    /// The topics that the caller may see; `nil` for all, empty for none.
    package var topics: [TopicKey]?

    package init() {}

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
        case channel, area, subject, sender, state, from, to, text, topics
        case traceID = "trace_id"
    }

    package func check() throws(SchemaViolation) {
        try TextLimits.sender.check(sender, CodingKeys.sender)
        try (0...maximumUnixMilliseconds).check(from, CodingKeys.from)
        try (0...maximumUnixMilliseconds).check(to, CodingKeys.to)
    }
}
