package import AsyncHTTPClient
import NIOCore
import NIOSSL

/// Does something with an HTTP client that trusts the emulator, and shows each failure instead of trying again by itself.
///
/// - Parameter certificates: The path of the emulator's `ca.pem`; the system's certificates where there is none.
package func withHTTPClient<Value>(
    trusting certificates: String? = nil, isolation: isolated (any Actor)? = #isolation,
    _ body: (HTTPClient) async throws -> Value
) async throws -> Value {
    var configuration = HTTPClient.Configuration()
    if let certificates {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .file(certificates)
        configuration.tlsConfiguration = tls
    }
    configuration.httpVersion = .http1Only
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
    configuration.connectionPool.retryConnectionEstablishment = false
    // For a machine that does much else at once.
    configuration.timeout.connect = .seconds(60)
    // The gateway gives a silent connection up after 15 s; a request must not meet that on its way.
    configuration.connectionPool.idleTimeout = .seconds(10)
    let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    do {
        let value = try await body(http)
        try await http.shutdown()
        return value
    } catch {
        try await http.shutdown()
        throw error
    }
}
