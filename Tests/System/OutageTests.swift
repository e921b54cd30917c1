import Base
import NIOHTTP1
import TestSupport
import Testing

extension HarmTests.HarmedProduct {
    /// Outages of one part, and the recovery from them.
    @Suite("Outages")
    struct OutageTests {
        let stack: Stack
        let portal: Portal

        init() throws {
            stack = try SharedStack.current
            portal = stack.portal
        }

        @Test(
            "A service that hangs is a 503 with Retry-After, and recovers by itself",
            arguments: ["msi-cube", "msi-message-log"])
        func frozen(service: String) async throws {
            try await stack.healthy()
            let subject = try await portal.makeSubject("Information")
            let calls: [(HTTPMethod, String, JSONValue?)] =
                service == "msi-cube"
                ? [(.POST, "/channel", ["name": "While it hangs", "desc": ""])]
                : [(.GET, "/message", nil), (.POST, "/message", subject.message())]
            try await stack.whileFrozen(service) {
                // Each waits for the service.
                try await concurrently(calls.count) { number in
                    let (method, path, body) = calls[number]
                    let answer = try await portal.call(method, path, body)
                    #expect(answer.status == 503, "\(method) \(path): \(answer)")
                    #expect(answer["Content-Type"] == "application/problem+json")
                    #expect(answer["Retry-After"].flatMap { Int($0) }.map { $0 > 0 } == true)
                }
                // Without the cube service messages are still accepted, with the gateway's copy of the cube.
                try await eventually("a health that shows it") {
                    let health = try await portal.call(.GET, "/health")
                    let isShown = try health.json["services"]?[String(service.dropFirst(4))] == "unavailable"
                    return isShown && health.status == (service == "msi-cube" ? 200 : 503)
                }
            }
            try await stack.healthy()
            #expect(try await portal.call(.GET, "/channel").status == 200)
            #expect(try await portal.call(.GET, "/message").status == 200)
            _ = try await portal.message(try await portal.accepted(subject.message()), hasState: "relayed")
        }
    }
}
