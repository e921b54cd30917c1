import Hummingbird
import JSON
import Schemas

/// The parameters of `GET /message`: a page of the archive, and a filter.
struct HistoryQuery: Decodable, Checked {
    private let limit: Int64?
    private let before: PageCursor?
    private let channel: ObjectID?
    private let area: ObjectID?
    private let subject: ObjectID?
    private let sender: String?
    private let state: RelayState?
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
        filter.state = state
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
