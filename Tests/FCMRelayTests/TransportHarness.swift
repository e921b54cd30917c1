import TestSupport

@testable import FCMRelay

/// Runs a test with a server, and with a transport of one thread that trusts it.
///
/// - Parameters:
///   - answer: The server's answers.
///   - change: Changes the configuration.
func withTransport(
    answer: @escaping TLSServer.Handler,
    configuration change: @escaping @Sendable (inout CurlConfiguration) -> Void = { _ in },
    _ body: @escaping @Sendable (TLSServer, CurlTransport) async throws -> Void
) async throws {
    try await withTLSServer(answer: answer) { server in
        var configuration = CurlConfiguration(certificateAuthorityFile: server.certificateFile, threads: 1)
        change(&configuration)
        let transport = try CurlTransport(configuration)
        do {
            try await body(server, transport)
            await transport.close()
        } catch {
            await transport.close()
            throw error
        }
    }
}
