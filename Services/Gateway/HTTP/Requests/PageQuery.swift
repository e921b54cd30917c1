import JSON
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
