import AsyncHTTPClient
import FoundationEssentials
import JSON
import MobileApp
import NIOCore
import NIOHTTP1
import NIOSSL

/// HTTP to one server.
struct Network: Sendable {
    /// The phone is offline, or an answer is no success.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let http: HTTPClient
    private static let timeout = TimeAmount.seconds(10)
    private static let maxAnswerBytes = 16 << 20

    /// - Parameters:
    ///   - certificateFile: The certificate to trust instead of the system's. The file may appear later, with the emulator's first
    ///     start.
    ///   - connections: The maximum number of connections that are open at once.
    init(trusting certificateFile: String? = nil, connections: Int = 8) {
        var tls = TLSConfiguration.makeClientConfiguration()
        if let certificateFile { tls.trustRoots = .file(certificateFile) }
        var configuration = HTTPClient.Configuration()
        // Each stream of events has a connection of its own. With HTTP/2 the client has one for all, of a hundred streams.
        configuration.httpVersion = .http1Only
        configuration.tlsConfiguration = tls
        configuration.timeout.connect = .seconds(5)
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connections
        http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    func close() async throws {
        try await http.shutdown()
    }

    /// - Throws: If there is no answer.
    func answer(
        _ method: HTTPMethod, _ url: String, headers: [String: String] = [:], body: Data = Data()
    ) async throws -> HubAnswer {
        var request = HTTPClientRequest(url: url)
        request.method = method
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if !body.isEmpty {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: body))
        }
        let response = try await http.execute(request, timeout: Self.timeout)
        let bytes = try await response.body.collect(upTo: Self.maxAnswerBytes)
        return HubAnswer(
            status: Int(response.status.code), entityTag: response.headers.first(name: "ETag"),
            body: Data(bytes.readableBytesView))
    }
}
