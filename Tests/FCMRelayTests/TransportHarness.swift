import TestSupport

@testable import FCMRelay

/// Runs a test with a server, and with a transport that trusts it.
///
/// - Parameters:
///   - make: The tested initialiser, such as `CurlTransport.init`.
///   - answer: The server's answers.
///   - change: Changes the default configuration.
func withTransport<Transport: HTTPTransport>(
    _ make: @escaping @Sendable (CurlConfiguration) throws -> Transport, answer: @escaping TLSServer.Handler,
    configuration change: @escaping @Sendable (inout CurlConfiguration) -> Void = { _ in },
    _ body: @escaping @Sendable (TLSServer, Transport) async throws -> Void
) async throws {
    try await withTLSServer(answer: answer) { server in
        var configuration = CurlConfiguration(certificateAuthorityFile: server.certificateFile)
        change(&configuration)
        let transport = try make(configuration)
        do {
            try await body(server, transport)
            await transport.close()
        } catch {
            await transport.close()
            throw error
        }
    }
}
