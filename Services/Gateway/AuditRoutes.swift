import Base
import Bus
import HTTPTypes
import Hummingbird
import Logging
package import Schemas

/// The audit log over HTTP, as pages or as a CSV file.
struct AuditRoutes: Feature {
    let people: CommandClient
    /// Finds the caller's credential once more during an export.
    let lookUp: CredentialLookup

    var section: APISection {
        APISection(
            "Audit log",
            "Who changed what, when, from where, and what it was before and after. It has every change of the cube, the accounts "
                + "and the rights, every sign-in, and every message that was sent, recalled, retried or approved, without its text."
        )
    }

    var routes: [Route] {
        [
            Route(.get, "/audit", right: .administer, query: AuditQuery.self, answer: .ok(Page.self), list)
                .documented(
                    "Search the audit log",
                    "The latest change comes first. Follow `next` until it is missing; a page may have fewer entries than `limit`. With "
                        + "`format=csv` or `Accept: text/csv` the answer is a CSV file of all entries that match.",
                    answerHeaders: [.nextPage], also: [AnswerForm(.ok, mediaType: "text/csv")])
        ]
    }

    /// One page. `next` is the path of the next page, and is also sent as a `Link`. The last page has none.
    private struct Page: Codable {
        let entries: [NumberedAuditEntry]
        let next: String?
    }

    private func list(_ call: Call<NoBody>, _ query: AuditQuery) async throws -> Answer<Page> {
        if query.format(for: call.request) == .csv { return try await export(call, query) }
        let page = try await people.request(query.command, context: call.caller)
        let next = page.next.map { query.next(at: $0, behind: call.request) }
        return Answer(
            Page(entries: page.entries, next: next),
            headers: next.map { [.link: "<\($0)>; rel=\"next\"", .vary: "Accept"] } ?? [.vary: "Accept"])
    }

    /// All entries that match. If the caller loses the right during the export, the connection is broken off.
    private func export(_ call: Call<NoBody>, _ query: AuditQuery) async throws -> Answer<Page> {
        let (caller, principal) = (call.caller, call.principal)
        let first = try await people.request(query.export(after: nil), context: caller)
        return .csv(
            "audit.csv", header: .auditHeader, for: call.request, on: call.context.channel, first: CSVPart(first)
        ) { [people, lookUp] cursor in
            try await principal.checkedAgain(lookUp).requireAdministrator()
            return CSVPart(try await people.request(query.export(after: cursor), context: caller))
        }
    }
}

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

extension CSVLine {
    /// The names of the columns of the audit log.
    static let auditHeader = CSVLine(header: [
        "number", "at", "actor", "address", "action", "kind", "object", "before", "after", "id", "hash",
    ])

    /// An entry of the audit log.
    init(_ line: NumberedAuditEntry) {
        let entry = line.entry
        self.init([
            String(line.number), entry.at.dateAndTime, entry.actor ?? "", entry.address ?? "", entry.action, entry.object.kind,
            entry.object.id, entry.before?.text ?? "", entry.after?.text ?? "", entry.id.description, line.hash,
        ])
    }
}

extension CSVPart<String> {
    init(_ page: ListAuditEntries.Reply) {
        self.init(lines: page.entries.map { CSVLine($0) }, next: page.next)
    }
}

extension NumberedAuditEntry: HasExample {
    package static var example: NumberedAuditEntry {
        NumberedAuditEntry(
            number: 17, hash: String(repeating: "9f86d081884c7d65", count: 4),
            entry: AuditEntry(
                id: TopicKey.exampleTopic.subject, at: .exampleTime, by: AuditAuthor(actor: "ann", address: "192.0.2.7"),
                action: UpdateChannel.name, object: AuditObject(kind: "channel", id: "\(TopicKey.exampleTopic.channel)"),
                before: ["name": "Campus", "desc": "", "access": []], after: ["name": "University", "desc": "", "access": []]))
    }
}
