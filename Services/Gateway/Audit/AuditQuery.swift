import Hummingbird
import JSON
import Schemas

/// The parameters of `GET /audit`: a page of the audit log, and a filter.
struct AuditQuery: Decodable, Checked {
    private static let maxPageSize: Int64 = 200

    private let limit: Int64?
    private let after: String?
    private let account: String?
    private let action: String?
    private let object: String?
    private let from: UnixMilliseconds?
    private let to: UnixMilliseconds?
    private let format: ListFormat?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case limit, after, account, action, object, from, to, format
    }

    func check() throws(SchemaViolation) {
        try (1...Self.maxPageSize).check(limit, CodingKeys.limit)
        try TextLimits.auditCursor.check(after, CodingKeys.after)
        try TextLimits.sender.check(account, CodingKeys.account)
        try TextLimits.auditAction.check(action, CodingKeys.action)
        try TextLimits.auditObject.check(object, CodingKeys.object)
        try (0...maximumUnixMilliseconds).check(from, CodingKeys.from)
        try (0...maximumUnixMilliseconds).check(to, CodingKeys.to)
    }

    private var filter: AuditFilter {
        var filter = AuditFilter()
        filter.account = account
        filter.action = action
        filter.object = object
        filter.from = from
        filter.to = to
        return filter
    }

    /// The command for one page.
    var command: ListAuditEntries { ListAuditEntries(limit: pageSize, after: after, filter: filter) }

    private var pageSize: Int64 { limit ?? 50 }

    /// The command for a part of an export, which has all entries that match.
    func export(after: String?) -> ListAuditEntries {
        ListAuditEntries(limit: ListAuditEntries.maxPerPage, after: after, filter: filter)
    }

    /// The form of the answer.
    func format(for request: Request) -> ListFormat { ListFormat(format, for: request) }

    /// The path of the next page.
    ///
    /// - Parameter request: The request that had this query.
    func next(at cursor: String, behind request: Request) -> String {
        request.nextPage("/audit", limit: pageSize, ("after", cursor))
    }
}
