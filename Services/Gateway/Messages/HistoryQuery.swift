import FoundationEssentials
import Hummingbird
import Schemas

/// A query of the archive: `GET /message?…`.
struct HistoryQuery {
    private static let path = "/message"
    private static let parameters = ["limit", "before", "channel", "area", "subject", "sender", "state", "from", "to", "q"]

    let command: ListMessages
    private let request: Request

    init(_ request: Request) throws {
        let query = try QueryParameters(of: request, known: Self.parameters)
        let limit = try query.value("limit", expected: "an integer from 1 to \(ListMessages.maxPerPage)") { text in
            Int64(text).flatMap { (1...ListMessages.maxPerPage).contains($0) ? $0 : nil }
        }
        let states = RelayState.allCases.map(\.rawValue).joined(separator: ", ")
        var filter = MessageFilter()
        filter.channel = try query.identifier("channel")
        filter.area = try query.identifier("area")
        filter.subject = try query.identifier("subject")
        filter.sender = try query.value("sender", expected: "1 to \(TextLimits.sender.max) characters") { text in
            TextLimits.sender.problem(with: text) == nil ? text : nil
        }
        filter.state = try query.value("state", expected: "one of \(states)") { RelayState(rawValue: $0) }
        filter.from = try query.moment("from")
        filter.to = try query.moment("to")
        filter.text = try query.value("q", expected: SearchQuery.expected) { SearchQuery($0) }
        command = ListMessages(
            limit: limit ?? 50,
            before: try query.value("before", expected: "the \"next\" of another page") { PageCursor($0) }, filter: filter)
        self.request = request
    }

    /// The path of the next page: the same query with the next cursor.
    func next(at cursor: PageCursor) -> String {
        var items = request.uri.queryParameters.filter { $0.key != "before" && $0.key != "limit" }.map { item in
            URLQueryItem(name: String(item.key), value: String(item.value))
        }
        items.append(URLQueryItem(name: "limit", value: String(command.limit)))
        items.append(URLQueryItem(name: "before", value: cursor.description))
        var components = URLComponents()
        // Not the request's own path: "//message" is routed here as well, but in a link it would name another host.
        components.path = Self.path
        components.queryItems = items
        // A plus sign is valid in a query, but many parsers read it as a space.
        components.percentEncodedQuery = components.percentEncodedQuery?.replacing("+", with: "%2B")
        return components.string ?? Self.path
    }
}
