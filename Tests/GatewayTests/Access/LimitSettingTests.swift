import TestSupport
import Testing

/// The limits' settings, in the gateway as a process.
@Suite("Settings of limits", .timeLimit(.minutes(1)))
struct LimitSettingTests {
    @Test("A flood by a client that invents addresses is stopped, and another client of the same proxy is served")
    func flood() async throws {
        let settings = [
            "MSI_GATEWAY_TRUSTED_PROXIES": "127.0.0.1", "MSI_GATEWAY_PUBLIC_URL": "https://hub.example.edu",
            "MSI_GATEWAY_ADDRESS_REQUESTS": "100",
        ]
        try await RunningGateway.with(services: [], settings: settings) { gateway in
            let connection = try HeldConnection(to: gateway.port)
            func ask(_ client: String) async throws -> Int {
                connection.send("GET", "/problems", "X-Forwarded-For: \(client)", "X-Forwarded-Proto: https")
                return try await connection.answer().status
            }
            var answers: [Int: Int] = [:]
            for number in 0..<300 { answers[try await ask("198.51.100.\(number % 250), 203.0.113.9"), default: 0] += 1 }
            // A few tokens come back meanwhile.
            #expect((100..<200).contains(answers[200] ?? 0) && answers.keys.sorted() == [200, 429], "\(answers)")
            #expect(try await ask("203.0.113.10") == 200)
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
