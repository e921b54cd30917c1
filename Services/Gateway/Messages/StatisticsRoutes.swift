import Bus
import Hummingbird
package import Base
package import Schemas

/// How many messages are in which state, over HTTP.
struct StatisticsRoutes: Feature {
    let cube: CubeService
    let messageLog: CommandClient

    var section: APISection {
        APISection(
            "Statistics",
            "How many messages are in which state, in total and in spans of time. The messages count that `GET /message` shows the "
                + "caller.")
    }

    var routes: [Route] {
        [
            Route(.get, "/statistics", right: .read, query: StatisticsQuery.self, answer: .ok(MessageStatistics.self), count)
                .documented(
                    "Count messages by state",
                    "`states` counts all messages with these filters that the caller may see, `buckets` those of each span between two "
                        + "`edges`, from the first edge to before the second one.")
        ]
    }

    private func count(_ call: Call<NoBody>, _ query: StatisticsQuery) async throws -> Answer<MessageStatistics> {
        let principal = call.principal
        let topics = try await cube.topics(for: principal)
        let command = query.command
        let placed = command.with(await cube.placed(command.filter))
        var statistics = try await messageLog.statistics(placed, of: topics, for: call.caller)
        if let oldest = statistics.oldestWaiting {
            statistics.oldestWaiting = try await cube.visible(oldest, to: principal)
        }
        return Answer(statistics)
    }
}

/// The parameters of `GET /statistics`.
struct StatisticsQuery: Decodable, Sendable {
    private let channel: ObjectID?
    private let area: ObjectID?
    private let subject: ObjectID?
    private let edges: TimeEdges?
    private let by: CountMessages.Time?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case channel, area, subject, edges, by
    }

    var command: CountMessages {
        CountMessages(
            channel: channel, area: area, subject: subject, edges: edges?.times ?? [], by: by ?? .timestamp)
    }
}

extension StatisticsQuery: SchemaAnnotated {
    static var schemaAnnotations: JSONValue {
        [
            "properties": [
                "channel": ["description": "Only messages of this channel."],
                "area": ["description": "Only messages of this area."],
                "subject": ["description": "Only messages of this subject."],
                "edges": ["description": "The edges of the spans of time; without them there are no spans."],
                "by": [
                    "description": "The time that puts a message into a span: when it was logged (the default), or when it ended."
                ],
            ]
        ]
    }
}

/// The edges of spans of time in a query: ascending times, separated by commas.
struct TimeEdges: Hashable, Sendable {
    let times: [UnixMilliseconds]
}

extension TimeEdges: LosslessStringConvertible {
    var description: String { times.map(\.description).joined(separator: ",") }

    init?(_ description: String) {
        let parts = description.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count <= CountMessages.maxEdges else { return nil }
        // Swift's initialiser also accepts a sign.
        times = parts.filter { $0.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } }
            .compactMap { UnixMilliseconds(String($0)) }.filter { $0 <= maximumUnixMilliseconds }
        guard times.count == parts.count, zip(times, times.dropFirst()).allSatisfy(<) else { return nil }
    }
}

extension TimeEdges: TextCodable {
    static let expected =
        "1 to \(CountMessages.maxEdges) ascending times in milliseconds since 1970-01-01 UTC, separated by commas"
    static let pattern = "^[0-9]{1,15}(,[0-9]{1,15}){0,\(CountMessages.maxEdges - 1)}$"
    static let example = "1795219200000,1795305600000,1795392000000"
}

extension CommandClient {
    /// The statistics of the messages of some topics.
    ///
    /// - Parameters:
    ///   - topics: The topics; `nil` for all. If they are too many for one command, the counts of several are added.
    ///   - maxTopics: The maximum number of topics of a command.
    /// - Throws: ``CommandFailure``.
    func statistics(
        _ command: CountMessages, of topics: [TopicKey]?, maxTopics: Int = ListMessages.maxTopics,
        for caller: CallerContext
    ) async throws(CommandFailure) -> MessageStatistics {
        let whole = command.restricted(to: topics)
        guard let possible = whole.filter.possibleTopics, possible.count > maxTopics else {
            return try await request(whole.restricted(to: whole.filter.possibleTopics), context: caller)
        }
        var statistics = MessageStatistics(edges: command.edges)
        for start in stride(from: 0, to: possible.count, by: maxTopics) {
            let part = Array(possible[start..<min(start + maxTopics, possible.count)])
            statistics.add(try await request(command.restricted(to: part), context: caller))
        }
        return statistics
    }
}

extension MessageStatistics {
    /// Adds those of other messages with the same spans of time.
    fileprivate mutating func add(_ other: MessageStatistics) {
        states = states + other.states
        scheduled += other.scheduled
        oldestWaiting = [oldestWaiting, other.oldestWaiting].compactMap(\.self)
            .min { ($0.timestamp, $0.msiKey) < ($1.timestamp, $1.msiKey) }
        for (index, bucket) in zip(buckets.indices, other.buckets) {
            buckets[index].states = buckets[index].states + bucket.states
        }
    }
}

extension MessageStatistics: HasExample {
    package static var example: MessageStatistics {
        var statistics = MessageStatistics(edges: TimeEdges(TimeEdges.example)?.times ?? [])
        statistics.states[.relayed] = 9
        statistics.states[.failed] = 1
        statistics.buckets[0].states[.relayed] = 4
        statistics.buckets[1].states[.relayed] = 2
        return statistics
    }
}

extension MessageStatistics: SchemaAnnotated {
    package static var schemaAnnotations: JSONValue {
        [
            "properties": [
                "states": ["description": "All messages that match, also those outside the spans."],
                "scheduled": [
                    "description": "How many of the pending messages go out only at a later time, by their `send_at` or `delay`."
                ],
                "oldest_waiting": [
                    "description":
                        "The oldest message that is pending or retrying and not scheduled for later; absent if there is none."
                ],
                "buckets": ["description": "One for each span between two edges."],
            ]
        ]
    }
}
