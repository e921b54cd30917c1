import CommandBus
import HTTPTypes
import Hummingbird
import Logging
import Schemas

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

    /// All entries that match. If the caller loses the right on the way, the connection breaks.
    private func export(_ call: Call<NoBody>, _ query: AuditQuery) async throws -> Answer<Page> {
        let (caller, principal) = (call.caller, try call.principal)
        let first = try await people.request(query.export(after: nil), context: caller)
        return .csv(
            "audit.csv", header: .auditHeader, on: call.context.channel, first: CSVPart(first)
        ) { [people, lookUp] cursor in
            try await principal.checkedAgain(lookUp).requireAdministrator()
            return CSVPart(try await people.request(query.export(after: cursor), context: caller))
        }
    }
}
