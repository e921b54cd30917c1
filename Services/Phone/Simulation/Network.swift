import AsyncHTTPClient
import FoundationEssentials
import Base
import MobileApp
import NIOCore
import NIOHTTP1
import NIOSSL

/// HTTP to one server.
struct Network: Sendable {
    /// The phone is offline, or the answer is not a success.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let http: HTTPClient
    private static let timeout = Duration.seconds(10)
    private static let maxAnswerBytes = 16 << 20

    /// - Parameters:
    ///   - certificateFile: The certificate to trust instead of the system's. The file may appear later, with the emulator's first
    ///     start.
    ///   - connections: The maximum number of connections that are open at once.
    init(trusting certificateFile: String? = nil, connections: Int = 8) {
        var tls = TLSConfiguration.makeClientConfiguration()
        if let certificateFile { tls.trustRoots = .file(certificateFile) }
        var configuration = HTTPClient.Configuration()
        // Each event stream needs its own connection. With HTTP/2 the client would use one for all, of a hundred streams.
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
        return try await withThrowingTaskGroup(of: HubAnswer.self) { [request] group in
            defer { group.cancelAll() }
            group.addTask { try await answer(to: request) }
            // The client's timeout covers only the head, and a body may stall.
            group.addTask {
                try await Task.sleep(for: Self.timeout)
                throw Failure(description: "no answer within \(Self.timeout)")
            }
            guard let answer = try await group.next() else { throw CancellationError() }
            return answer
        }
    }

    private func answer(to request: HTTPClientRequest) async throws -> HubAnswer {
        let response = try await http.execute(request, deadline: .distantFuture)
        let bytes = try await response.body.collect(upTo: Self.maxAnswerBytes)
        try Task.checkCancellation()
        return HubAnswer(
            status: Int(response.status.code), entityTag: response.headers.first(name: "ETag"),
            body: Data(bytes.readableBytesView))
    }
}
