package import AsyncHTTPClient
import NIOCore
import NIOSSL

/// Lends an HTTP client that trusts the emulator and does not retry by itself.
///
/// - Parameters:
///   - certificates: The path of the emulator's `ca.pem`; `nil` for the system's certificates.
///   - version: The version of HTTP.
package func withHTTPClient<Value>(
    trusting certificates: String? = nil, version: HTTPClient.Configuration.HTTPVersion = .http1Only,
    isolation: isolated (any Actor)? = #isolation,
    _ body: (HTTPClient) async throws -> Value
) async throws -> Value {
    var configuration = HTTPClient.Configuration()
    if let certificates {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .file(certificates)
        configuration.tlsConfiguration = tls
    }
    configuration.httpVersion = version
    configuration.redirectConfiguration = .disallow
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
    configuration.connectionPool.retryConnectionEstablishment = false
    // Long enough for a busy machine.
    configuration.timeout.connect = .seconds(60)
    // The gateway closes an idle connection after 15 s. A request must not collide with that.
    configuration.connectionPool.idleTimeout = .seconds(10)
    let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    return try await perform {
        try await body(http)
    } finally: {
        try await http.shutdown()
    }
}
