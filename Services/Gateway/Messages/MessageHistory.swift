import Bus
import Hummingbird
import Base
import Schemas

/// The parameters of `GET /message`: a page of the archive, and a filter.
struct HistoryQuery: Decodable, Checked {
    private let limit: Int64?
    private let before: PageCursor?
    private let channel: ObjectID?
    private let area: ObjectID?
    private let subject: ObjectID?
    private let sender: String?
    private let state: HistoryState?
    private let from: UnixMilliseconds?
    private let to: UnixMilliseconds?
    private let q: SearchQuery?
    private let traceID: TraceID?
    private let format: ListFormat?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case limit, before, channel, area, subject, sender, state, from, to, q, format
        case traceID = "trace_id"
    }

    func check() throws(SchemaViolation) {
        try (1...ListMessages.maxPerPage).check(limit, CodingKeys.limit)
        try TextLimits.sender.check(sender, CodingKeys.sender)
        try (0...maximumUnixMilliseconds).check(from, CodingKeys.from)
        try (0...maximumUnixMilliseconds).check(to, CodingKeys.to)
    }

    private var pageSize: Int64 { limit ?? 50 }

    /// The command for one page.
    var command: ListMessages { ListMessages(limit: pageSize, before: before, filter: filter) }

    /// The command for a part of an export, which has all messages that match.
    func export(before cursor: PageCursor?) -> ListMessages {
        ListMessages(limit: ListMessages.maxPerPage, before: cursor, filter: filter)
    }

    /// The form of the answer.
    func format(for request: Request) -> ListFormat { ListFormat(format, for: request) }

    private var filter: MessageFilter {
        var filter = MessageFilter()
        filter.channel = channel
        filter.area = area
        filter.subject = subject
        filter.sender = sender
        filter.state = state.map(\.relayState)
        filter.rejected = state == .rejected ? true : nil
        filter.from = from
        filter.to = to
        filter.text = q
        filter.traceID = traceID
        return filter
    }

    /// The path of the next page: the same query with the next cursor.
    ///
    /// - Parameter request: The request that had this query.
    func next(at cursor: PageCursor, after request: Request) -> String {
        request.nextPage("/message", limit: pageSize, ("before", cursor.description))
    }
}

extension HistoryQuery: SchemaAnnotated {
    static var schemaAnnotations: JSONValue {
        [
            "properties": [
                "limit": ["description": "The number of messages of a page; 50 by default."],
                "before": ["description": "Where the page begins: from `next` of the previous one."],
                "channel": ["description": "Only messages of this channel."],
                "area": ["description": "Only messages of this area."],
                "subject": ["description": "Only messages of this subject."],
                "sender": ["description": "Only messages of this account."],
                "state": [
                    "description":
                        "Only messages whose `relay` is in this state, or with `rejected` those that somebody rejected instead of approving them."
                ],
                "from": ["description": "Only messages with a `timestamp` from this time on."],
                "to": ["description": "Only messages with a `timestamp` before this time."],
                "q": [
                    "description":
                        "Only messages with all of these words in their texts. `exam*` stands for every word that begins so."
                ],
                "trace_id": [
                    "description": "Only messages that the request with this `X-Request-Id` has posted.",
                    // An id of zeros is not a valid trace id.
                    "not": ["pattern": "^0*$"],
                ],
                "format": ["description": "`csv` for a CSV file of all messages that match; `limit` and `before` do not apply."],
            ]
        ]
    }
}

/// The states by which the archive is searched: those of a message's `relay`, and `rejected`.
enum HistoryState: String, ClosedEnum {
    case held, pending, retrying, relayed, failed, expired, recalled
    /// Another account than the sender recalled it instead of approving it.
    case rejected

    fileprivate var relayState: RelayState { RelayState(rawValue: rawValue) ?? .recalled }
}

extension CommandClient {
    /// A page of the archive as a caller sees it.
    ///
    /// - Throws: ``CommandFailure``.
    func history(
        _ command: ListMessages, for reader: MessageReader, _ caller: CallerContext
    ) async throws(CommandFailure) -> ListMessages.Reply {
        let readable = try await history(command, of: reader.topics, for: caller)
        guard let own = reader.sender, [nil, own].contains(command.filter.sender) else { return readable }
        var filter = command.filter
        filter.sender = own
        let sent = try await history(command.with(filter), of: nil, for: caller)
        return ListMessages.Reply(merging: [readable, sent], limit: Int(command.limit))
    }

    /// A page of the archive with the messages of some topics.
    ///
    /// - Parameters:
    ///   - topics: The topics; `nil` for all. If they are too many for one command, the pages of several are merged.
    ///   - maxTopics: The maximum number of topics of a command.
    /// - Throws: ``CommandFailure``.
    func history(
        _ command: ListMessages, of topics: [TopicKey]?, maxTopics: Int = ListMessages.maxTopics,
        for caller: CallerContext
    ) async throws(CommandFailure) -> ListMessages.Reply {
        let whole = command.restricted(to: topics)
        guard let possible = whole.filter.possibleTopics, possible.count > maxTopics else {
            return try await request(whole.restricted(to: whole.filter.possibleTopics), context: caller)
        }
        var pages: [ListMessages.Reply] = []
        for start in stride(from: 0, to: possible.count, by: maxTopics) {
            let part = Array(possible[start..<min(start + maxTopics, possible.count)])
            pages.append(try await request(command.restricted(to: part), context: caller))
        }
        return ListMessages.Reply(merging: pages, limit: Int(command.limit))
    }
}

extension ListMessages.Reply {
    /// Merges several pages into one with the newest messages, each once.
    init(merging pages: [ListMessages.Reply], limit: Int) {
        var seen: Set<ObjectID> = []
        let all = pages.flatMap(\.messages).filter { seen.insert($0.msiKey).inserted }
            .sorted { ($0.timestamp, $0.msiKey) > ($1.timestamp, $1.msiKey) }
        let messages = Array(all.prefix(limit))
        let hasMore = all.count > limit || pages.contains { $0.next != nil }
        self.init(
            messages: messages,
            next: hasMore ? messages.last.map { PageCursor(timestamp: $0.timestamp, msiKey: $0.msiKey) } : nil)
    }
}

/// Which messages of the archive a caller may read: those of the topics that it may send to, and those that it sent itself. A
/// sender can follow and recall a message even after its subject was deleted or closed to the sender.
struct MessageReader: Sendable {
    /// `nil` for all.
    let topics: [TopicKey]?
    /// The account that may read its own messages; `nil` for none, as for a token that is restricted to a part of the cube.
    let sender: String?
}

extension CubeService {
    /// - Throws: ``CommandFailure`` if there is no usable copy and the cube service does not answer.
    func reader(_ principal: Principal) async throws -> MessageReader {
        let topics = try await topics(for: principal)
        return MessageReader(topics: topics, sender: topics == nil || principal.scope != nil ? nil : principal.actor)
    }

    /// Whether a caller may read a message.
    ///
    /// - Throws: ``CommandFailure`` if there is no usable copy and the cube service does not answer.
    func mayRead(_ principal: Principal, _ message: Message) async throws -> Bool {
        if principal.scope == nil, message.sender == principal.actor { return true }
        return try await maySend(principal, to: message.topicKey)
    }
}
