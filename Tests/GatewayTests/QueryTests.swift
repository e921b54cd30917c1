@testable import Gateway
import HTTPRouting
import HTTPTypes
import Hummingbird
import NIOCore
import Testing

@Suite("Queries")
struct QueryTests {
    @Test(
        "A plus sign is a space, and names and values are percent-encoded, as in HTML forms",
        arguments: [
            ("title=Campus+closed", [("title", "Campus closed")]), ("a=1%2B1+%3D+2", [("a", "1+1 = 2")]),
            ("a+b=%20+&%61=c=d", [("a b", "  "), ("a", "c=d")]), ("a&b=&&=c", [("a", ""), ("b", ""), ("", "c")]),
            ("a=T%C3%BCr&a=\u{FC}", [("a", "T\u{FC}r"), ("a", "\u{FC}")]), ("", []),
            ("a=%FF&b=%4&c=%zz&d=%", [("a", nil), ("b", nil), ("c", nil), ("d", nil)]),
        ] as [(String, [(String, String?)])])
    func form(query: String, expected: [(String, String?)]) {
        let read = QueryParameters(query).all
        #expect(read.map(\.name) == expected.map(\.0) && read.map(\.value) == expected.map(\.1))
    }

    private func request(_ path: String) -> Request {
        let head = HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: path)
        return Request(head: head, body: RequestBody(buffer: ByteBuffer()))
    }

    @Test("The parameters of a route have spaces for plus signs, the next page keeps them, and a malformed one is named")
    func parameters() throws {
        let query = try QueryDecoder.decode(SendQuery.self, from: request("/send?title=Campus+closed&desc=1%2B1"))
        #expect(query.title == "Campus closed" && query.desc == "1+1")
        let next = request("/message?q=snow+1%2B1&limit=5").nextPage("/message", limit: 5, ("before", "b"))
        #expect(next == "/message?q=snow%201%2B1&limit=5&before=b")
        let problem = #expect(throws: Problem.self) {
            try QueryDecoder.decode(SendQuery.self, from: request("/send?title=%FF"))
        }
        #expect(problem?.field == "title")
    }
}

@Suite("The media types that a client accepts")
struct AcceptedTypesTests {
    @Test(
        "A client gets CSV if it prefers it to JSON",
        arguments: [
            ("", false), ("*/*", false), ("text/csv", true), ("TEXT/CSV; charset=utf-8", true), ("text/*", true),
            ("text/csv;q=0", false), ("text/csv; q=0.0, */*", false), ("text/csv, */*", true), ("text/csv, */*;q=0.1", true),
            ("application/json, text/csv;q=0.1", false), ("application/json;q=0.5, text/csv;q=0.9", true),
            ("application/json, text/csv", false), ("text/html,application/xhtml+xml,*/*;q=0.8", false), ("text/csv;q=x", false),
        ])
    func csv(header: String, isCSV: Bool) {
        let accepted = AcceptedTypes(header)
        let csv = accepted.preference(for: "text/csv")
        #expect((csv.quality > 0 && csv > accepted.preference(for: "application/json")) == isCSV)
    }
}
