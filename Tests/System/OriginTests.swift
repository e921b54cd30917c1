import JSON
import NIOHTTP1
import TestSupport
import Testing

extension SystemTests.OneProduct {
    /// The rights of pages in a browser.
    @Suite("Origins")
    struct OriginTests {
        let portal: Portal

        init() throws {
            portal = try SharedStack.current.portal
        }

        @Test(
            "A page of a configured origin may call the gateway",
            arguments: ["https://portal.example.edu", "http://localhost:3000"])
        func configured(origin: String) async throws {
            let answer = try await portal.call(.GET, "/channel", headers: ["Origin": origin])
            #expect(answer.status == 200)
            #expect(answer["Access-Control-Allow-Origin"] == origin)
            #expect(answer["Vary"]?.contains("Origin") == true)
            let exposed = answer["Access-Control-Expose-Headers"] ?? ""
            for header in ["Location", "ETag", "Link", "Retry-After"] { #expect(exposed.contains(header)) }
            let made = try await portal.call(
                .POST, "/channel", headers: ["Origin": origin], ["name": "From a page", "desc": ""])
            #expect(made.status == 201)
            #expect(made["Access-Control-Allow-Origin"] == origin)
        }

        @Test("A preflight request is answered with the allowed methods and headers")
        func preflight() async throws {
            let answer = try await portal.call(
                .OPTIONS, "/message",
                headers: [
                    "Origin": "https://portal.example.edu", "Access-Control-Request-Method": "POST",
                    "Access-Control-Request-Headers": "content-type,idempotency-key",
                ])
            #expect((200...204).contains(answer.status))
            #expect(answer["Access-Control-Allow-Origin"] == "https://portal.example.edu")
            #expect(answer["Access-Control-Allow-Methods"]?.contains("POST") == true)
            let headers = answer["Access-Control-Allow-Headers"]?.lowercased() ?? ""
            #expect(headers.contains("content-type") && headers.contains("idempotency-key"))
        }

        @Test("A page of a configured origin can read errors as well")
        func errors() async throws {
            let answer = try await portal.call(.GET, "/nothing", headers: ["Origin": "https://portal.example.edu"])
            #expect(answer.status == 404)
            #expect(answer["Access-Control-Allow-Origin"] == "https://portal.example.edu")
        }

        @Test(
            "A page of a foreign origin is refused, and changes nothing",
            arguments: [
                "https://evil.example", "https://portal.example.edu.evil.example", "http://portal.example.edu", "null",
                "http://127.0.0.1:1",
            ])
        func foreign(origin: String) async throws {
            let before = try await portal.call(.GET, "/channel").json
            let answer = try await portal.call(.POST, "/channel", headers: ["Origin": origin], ["name": "Evil", "desc": ""])
            #expect(answer.status == 403)
            #expect(answer["Access-Control-Allow-Origin"] == nil)
            #expect(try answer.json["field"] == "Origin")
            #expect(try await portal.call(.GET, "/channel", headers: ["Origin": origin]).status == 403)
            #expect(try await portal.call(.GET, "/channel").json == before)
        }

        @Test("The gateway's own pages, and callers that are not browsers, need no permission")
        func own() async throws {
            #expect(
                try await portal.call(.GET, "/channel", headers: ["Origin": "http://127.0.0.1:\(portal.port)"]).status == 200)
            #expect(try await portal.call(.GET, "/channel").status == 200)
        }
    }
}
