import Base
import NIOHTTP1
import TestSupport
import Testing

extension SystemTests.OneProduct {
    /// The rights of pages in a browser.
    @Suite("Origins")
    struct OriginTests {
        @Test(
            "A page of each configured origin may call the gateway and read its header fields; the same host by another scheme may not",
            arguments: ["https://portal.example.edu", "http://localhost:3000"])
        func configured(origin: String) async throws {
            let portal = try SharedStack.current.portal
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
            let other = try await portal.call(.GET, "/channel", headers: ["Origin": "http://portal.example.edu"])
            #expect(other.status == 403 && other["Access-Control-Allow-Origin"] == nil)
            #expect(try other.json["field"] == "Origin")
        }
    }
}
