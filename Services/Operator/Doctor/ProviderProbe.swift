import AsyncHTTPClient
import FoundationEssentials
import NIOCore
import NIOHTTP1

/// A request to a provider at which people sign in, as the people service makes it.
enum ProviderProbe {
    private static let timeout = TimeAmount.seconds(5)
    private static let maxBytes = 1 << 20

    /// The provider does not answer in time.
    struct Failure: Error {
        /// For a sentence after the address.
        let problem: String
    }

    /// The status and the body of an answer.
    static func answer(at address: String) async -> Result<(status: HTTPResponseStatus, body: Data), Failure> {
        do {
            return .success(
                try await HTTPClient.withHTTPClient(
                    eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: .init(redirectConfiguration: .disallow)
                ) { http in
                    let response = try await http.execute(HTTPClientRequest(url: address), timeout: timeout)
                    return (response.status, Data(try await response.body.collect(upTo: maxBytes).readableBytesView))
                })
        } catch {
            return .failure(Failure(problem: "does not answer"))
        }
    }
}
