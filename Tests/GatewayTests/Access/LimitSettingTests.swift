import TestSupport
import Testing

/// The limits' settings, in the gateway as a process.
@Suite("Settings of limits", .timeLimit(.minutes(10)))
struct LimitSettingTests {
    @Test("The phones behind one address have limits of their own, and leave the others' requests alone")
    func phones() async throws {
        let settings = [
            "MSI_GATEWAY_TRUSTED_PROXIES": "127.0.0.1", "MSI_GATEWAY_PUBLIC_URL": "https://hub.example.edu",
            "MSI_GATEWAY_ADDRESS_REQUESTS": "8",
        ]
        try await RunningGateway.with(services: [], settings: settings) { gateway in
            let connection = try HeldConnection(to: gateway.port)
            func ask(_ method: String, _ path: String, from client: String = "203.0.113.9") async throws -> HTTPAnswer {
                connection.send(method, path, ["X-Forwarded-For: \(client)", "X-Forwarded-Proto: https"], body: "")
                return try await connection.answer()
            }
            for (path, limit, policy) in [
                ("/message/since", 32, "phones"), ("/receipt", 4, "receipts"), ("/phone/topics", 2, "phone-topics"),
            ] {
                var answers: [HTTPAnswer] = []
                for _ in 0..<(limit + 60) { answers.append(try await ask("POST", path)) }
                // A few tokens come back during the requests.
                let served = answers.count { $0.status == 400 }
                #expect((limit..<limit + 50).contains(served), "\(path): \(served)")
                let refused = try #require(answers.last { $0.status == 429 })
                #expect(refused["ratelimit-policy"] == "\"\(policy)\";q=\(limit);w=60", "\(refused)")
                #expect(try await ask("POST", path, from: "203.0.113.10").status == 400)
            }
            #expect(try await ask("GET", "/problems").status == 200)
            #expect(try await ask("POST", "/session").status == 400)
            #expect(try await ask("GET", "/nothing").status == 404)
        }
    }

    @Test("The number of connections of one address is limited by its setting, except for a trusted proxy's")
    func connections() async throws {
        func statuses(_ settings: [String: String]) async throws -> [Int] {
            let all = settings.merging(["MSI_GATEWAY_MAX_CONNECTIONS_PER_ADDRESS": "3"]) { $1 }
            return try await RunningGateway.with(services: [], settings: all) { gateway in
                let connections = try (0..<5).map { _ in try HeldConnection(to: gateway.port) }
                var statuses: [Int] = []
                for connection in connections {
                    connection.send("GET", "/problems")
                    statuses.append(try await connection.answer().status)
                }
                // The connections are accepted by several threads, in any order.
                return statuses.sorted()
            }
        }
        #expect(try await statuses([:]) == [200, 200, 200, 429, 429])
        #expect(try await statuses(["MSI_GATEWAY_TRUSTED_PROXIES": "127.0.0.1"]) == [200, 200, 200, 200, 200])
    }
}
