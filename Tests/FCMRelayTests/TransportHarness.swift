import TestSupport

@testable import FCMRelay

/// Runs a test with a transport that trusts the server, and closes it.
///
/// - Parameters:
///   - make: The tested initialiser, such as `CurlTransport.init`.
///   - change: Changes the default configuration.
func withTransport<Transport: HTTPTransport>(
    to server: TLSServer, _ make: (CurlConfiguration) throws -> Transport, _ change: (inout CurlConfiguration) -> Void = { _ in },
    _ body: (Transport) async throws -> Void
) async throws {
    var configuration = CurlConfiguration(certificateAuthorityFile: server.certificateFile)
    change(&configuration)
    let transport = try make(configuration)
    do {
        try await body(transport)
        await transport.close()
    } catch {
        await transport.close()
        throw error
    }
}
