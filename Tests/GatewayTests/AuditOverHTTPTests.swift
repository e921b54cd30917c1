import Base
import Foundation
@testable import Gateway
import Schemas
import TestSupport
import Testing

/// The lists of the cube and the audit log over HTTP, with all services.
@Suite("Lists and audit over HTTP", .timeLimit(.minutes(10)))
struct AuditOverHTTPTests {
    @Test("Lists, order and approval are set, carry the cube's version, and are refused at an old one")
    func lists() async throws {
        try await RunningGateway.with { gateway in
            let path = try await gateway.makeSubject()
            let place = "\(path.channel)/\(path.area)/\(path.subject)"
            let list = #"{"access":["ann","bob@example.edu"]}"#
            var tag: String?
            for target in ["/access/\(path.channel)", "/access/\(path.channel)/\(path.area)", "/access/\(place)"] {
                let answer = try await gateway.request("PUT", target, headers: tag.map { ["If-Match": $0] } ?? [:], body: list)
                #expect(answer.status == 200 && answer.text == list, "\(answer)")
                tag = answer["etag"]
                #expect(tag != nil)
            }
            let stale = try #require(tag)
            let ids = #"{"ids":["\#(path.channel)"]}"#
            #expect(try await gateway.request("PUT", "/order", body: ids).status == 200)
            #expect(try await gateway.request("PUT", "/order", headers: ["If-Match": stale], body: ids).status == 412)
            #expect(try await gateway.request("PUT", "/order/\(path.channel)", body: #"{"ids":["\#(path.area)"]}"#).status == 200)
            let wrong = try await gateway.request("PUT", "/order/\(path.channel)/\(path.area)", body: #"{"ids":[]}"#)
            #expect(wrong.status == 409 && wrong.text.contains(path.subject), "\(wrong.text)")
            let approval = try await gateway.request("PUT", "/approval/\(place)", body: #"{"approval":true}"#)
            #expect(approval.status == 200 && approval.text == #"{"approval":true}"#)
            let twice = try await gateway.request("PUT", "/access/\(place)", body: #"{"access":["ann","Ann"]}"#)
            #expect(twice.status == 400 && twice.text.contains("access"), "\(twice.text)")

            let cube = try await gateway.request("GET", "/channel")
            #expect(cube.text.contains(#""approval":true"#))
        }
    }

    @Test("The audit log is searched page by page, and exported as CSV")
    func audit() async throws {
        try await RunningGateway.with { gateway in
            let path = try await gateway.makeSubject()
            let renamed = try await gateway.request(
                "PUT", "/channel/\(path.channel)", body: #"{"name":"=cmd()","desc":"a,b"}"#)
            #expect(renamed.status == 200)
            try await eventually("all entries") {
                try await gateway.auditEntries("object=\(path.channel)").count == 2
            }
            let changes = try await gateway.auditEntries("limit=1&object=\(path.channel)")
            #expect(changes.compactMap { $0["action"] as? String } == ["channel.update", "channel.add"])
            for change in changes {
                #expect(change["actor"] as? String == "admin" && change["address"] as? String == "127.0.0.1", "\(change)")
            }
            #expect(try await gateway.auditEntries("action=subject.add").count == 1)
            #expect(try await gateway.auditEntries("to=1").isEmpty)
            #expect(try await gateway.request("GET", "/audit?colour=red").status == 400)

            for (query, headers) in [("?format=csv", [:]), ("", ["Accept": "text/csv;q=0.9, */*;q=0.1"])] {
                let answer = try await gateway.request("GET", "/audit" + query, headers: headers)
                #expect(answer.status == 200 && answer["content-type"]?.hasPrefix("text/csv") == true)
                let lines = answer.text.components(separatedBy: "\r\n")
                #expect(lines[0].hasPrefix("\u{feff}number,at,actor,") && lines.last == "")
                let update = try #require(lines.first { $0.contains("channel.update") })
                #expect(update.contains(#"""name"":""=cmd()"""#) && update.contains(path.channel))
            }
        }
    }
}

extension RunningGateway {
    /// The entries of the audit log that a query finds, on all of its pages. The latest comes first.
    func auditEntries(_ query: String) async throws -> [[String: Any]] {
        var entries: [[String: Any]] = []
        var path: String? = "/audit?\(query)"
        while let next = path {
            let answer = try await request("GET", next)
            #expect(answer.status == 200, "\(answer)")
            let found = try #require(answer.object["entries"] as? [[String: Any]])
            entries += found.compactMap { $0["entry"] as? [String: Any] }
            path = answer.object["next"] as? String
        }
        return entries
    }
}

/// The lines of an exported audit log.
@Suite("The CSV of the audit log")
struct CSVLineTests {
    @Test("An entry has as many cells as the header, and its time is readable")
    func entry() {
        let entry = AuditEntry(
            at: 1_763_712_000_123, by: .program, action: "a.b", object: AuditObject(kind: "k", id: "i"), after: ["n": 1])
        let line = CSVLine(NumberedAuditEntry(number: 7, hash: "h", entry: entry))
        #expect(line.text == "7,2025-11-21T08:00:00.123Z,,,a.b,k,i,,\"{\"\"n\"\":1}\",\(entry.id),h\r\n")
        #expect(CSVLine.auditHeader.text.split(separator: ",").count == 11)
    }
}
