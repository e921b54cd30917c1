import FoundationEssentials
import HTTPRouting
import Hummingbird
import Base
import Schemas

/// The parameters of a list of accounts or tokens: a page.
struct PageQuery: Decodable, Checked {
    private let limit: Int?
    /// The `next` of the service's previous page.
    let after: String?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case limit, after
    }

    var pageSize: Int { limit ?? 50 }

    func check() throws(SchemaViolation) {
        try PeopleLimits.page.check(limit, CodingKeys.limit)
    }

    /// The path of the next page.
    func next(_ path: String, at cursor: String?) -> String? {
        cursor.map { "\(path)?limit=\(pageSize)&after=\($0)" }
    }
}

extension Request {
    /// The path of the next page: the same query with the next cursor.
    ///
    /// - Parameters:
    ///   - path: The route's path. Not the request's own: "//message" is routed as well, but in a link it would name another host.
    ///   - cursor: The parameter for the place where the next page begins, and its value.
    func nextPage(_ path: String, limit: Int64, _ cursor: (name: String, value: String)) -> String {
        var items = queryParameters.all.filter { $0.name != cursor.name && $0.name != "limit" }.map {
            URLQueryItem(name: $0.name, value: $0.value)
        }
        items.append(URLQueryItem(name: "limit", value: String(limit)))
        items.append(URLQueryItem(name: cursor.name, value: cursor.value))
        var components = URLComponents()
        components.path = path
        components.queryItems = items
        // A plus sign in a query is a space.
        components.percentEncodedQuery = components.percentEncodedQuery?.replacing("+", with: "%2B")
        return components.string ?? path
    }
}
