import CommandBus
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTPTypes
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
        if query.wantsCSV(call.request) { return try await export(call, query) }
        let page = try await people.request(query.command, context: call.caller)
        let next = page.next.map { query.next(at: $0, behind: call.request) }
        return Answer(
            Page(entries: page.entries, next: next),
            headers: next.map { [.link: "<\($0)>; rel=\"next\"", .vary: "Accept"] } ?? [.vary: "Accept"])
    }

    /// The maximum size of a piece of an export, in bytes. A client has the time of a response for each.
    private static let maxPiece = 64 << 10

    /// All entries that match. They are read while they are sent, each page after the previous one was sent, so that an export of any
    /// size needs little memory. If the reading fails on the way, or the caller loses the right, the connection breaks, so that the client
    /// notices that the file is incomplete.
    private func export(_ call: Call<NoBody>, _ query: AuditQuery) async throws -> Answer<Page> {
        let (caller, principal, channel) = (call.caller, try call.principal, call.context.channel)
        let first = try await people.request(query.export(after: nil), context: caller)
        let body = ResponseBody { [people, lookUp] writer in
            var lines = CSVLine.auditHeader.text
            var page = first
            while true {
                lines += page.entries.map { CSVLine($0).text }.joined()
                var bytes = ByteBuffer(string: lines)
                while let piece = bytes.readSlice(length: min(bytes.readableBytes, Self.maxPiece)), piece.readableBytes > 0 {
                    try await channel.writeAndFlush(HTTPResponsePart.body(piece))
                }
                lines = ""
                guard let next = page.next else { break }
                try await principal.checkedAgain(lookUp).requireAdministrator()
                page = try await people.request(query.export(after: next), context: caller)
            }
            try await writer.finish(nil)
        }
        return Answer(
            body: body,
            headers: [
                .contentType: "text/csv; charset=utf-8; header=present", .vary: "Accept",
                .contentDisposition: "attachment; filename=\"audit.csv\"",
            ])
    }
}
