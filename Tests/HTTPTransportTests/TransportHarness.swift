import TestSupport

@testable import HTTPTransport

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
        let configuration = CurlConfiguration.sample(trusting: server.certificateFile) {
            $0.threads = 1
            change(&$0)
        }
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

extension CurlConfiguration {
    /// - Parameter change: Changes the defaults.
    static func sample(
        trusting certificateAuthorityFile: String? = nil, _ change: (inout CurlConfiguration) -> Void = { _ in }
    ) -> CurlConfiguration {
        var configuration = CurlConfiguration(
            userAgent: "test", requestTimeout: .seconds(15), certificateAuthorityFile: certificateAuthorityFile)
        change(&configuration)
        return configuration
    }
}

extension HTTPTransport {
    /// Sends one request.
    func send(_ request: HTTPTransportRequest) async throws(TransportError) -> HTTPTransportResponse {
        try await send([request])[0].get()
    }
}

extension Result {
    /// The value; `nil` for a failure.
    var success: Success? { if case .success(let value) = self { value } else { nil } }

    /// The error; `nil` for a success.
    var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
