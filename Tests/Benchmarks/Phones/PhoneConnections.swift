import AsyncHTTPClient
import NIOCore
import TestSupport

/// The connections of many phones.
enum PhoneConnections {
    private static let count = 2_000

    /// Runs a body with connections that are like phones': many, without a sign-in, and none of those that post.
    static func with<Value>(at gateway: Portal, _ body: (Portal) async throws -> Value) async throws -> Value {
        var configuration = HTTPClient.Configuration()
        configuration.httpVersion = .http1Only
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = count
        configuration.timeout.connect = .seconds(60)
        // The gateway closes an idle connection after 15 s. A request must not collide with that.
        configuration.connectionPool.idleTimeout = .seconds(10)
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        do {
            let value = try await body(Portal(port: gateway.port, http: http, token: nil))
            try await http.shutdown()
            return value
        } catch {
            try await http.shutdown()
            throw error
        }
    }

    /// Header fields that give each phone its own address, as a proxy does. Limits per address would distort the measurement.
    static func address(of phone: Int) -> [String: String] {
        ["X-Forwarded-For": "10.\(phone / 62_500).\(phone / 250 % 250).\(phone % 250)", "X-Forwarded-Proto": "https"]
    }
}
