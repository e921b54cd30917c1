package import FoundationEssentials
package import HTTPTypes
import Hummingbird
import HummingbirdHTTP2
import Logging
import NIOCore
import ServiceLifecycle
import Synchronization

/// An HTTP/2 server over TLS on a free port of the loopback address.
package final class TLSServer: Sendable {
    /// What a client has sent.
    package struct Request: Sendable {
        package let path: String
        package let headers: HTTPFields
        package let body: Data
        /// The connection that it came on.
        package let connection: ObjectIdentifier
        fileprivate let channel: any Channel

        /// Closes the connection that the request came on, without an answer to any request on it.
        package func dropConnection() async throws {
            try await channel.parent?.close()
        }

        /// Ends the request's stream without an answer.
        package func resetStream() async throws {
            try await channel.close()
        }
    }

    /// What the client gets.
    package struct Answer: Sendable {
        package let status: Int
        package let headers: HTTPFields
        package let body: Data

        package init(_ status: Int, _ body: String = "", headers: HTTPFields = [:]) {
            self.status = status
            self.headers = headers
            self.body = Data(body.utf8)
        }
    }

    /// `https://127.0.0.1:<port>`.
    package let url: String
    /// PEM; trust it.
    package let certificateFile: String
    private let log: RequestLog

    fileprivate init(port: Int, certificateFile: String, log: RequestLog) {
        url = "https://127.0.0.1:\(port)"
        self.certificateFile = certificateFile
        self.log = log
    }

    /// What has arrived so far, in order.
    package var requests: [Request] { log.requests.withLock(\.self) }

    /// How many connections requests have come on.
    package var connections: Int { Set(requests.map(\.connection)).count }
}

/// Runs a test with a server, and stops the server.
///
/// - Parameter answer: Cancelled when the server stops.
package func withTLSServer(
    answer: @escaping @Sendable (TLSServer.Request) async throws -> TLSServer.Answer,
    _ body: @escaping @Sendable (TLSServer) async throws -> Void
) async throws {
    try await withTemporaryFolder { folder in
        let certificate = try TestCertificate()
        let certificateFile = folder + "/ca.pem"
        try Data(certificate.pem.utf8).write(to: URL(filePath: certificateFile))
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let log = RequestLog()
        let logger = Logger(label: "test-server") { _ in SwiftLogNoOpLogHandler() }
        let application = Application(
            responder: CallbackResponder<StreamContext> { request, context in
                try await respond(to: request, context, log, answer)
            },
            server: try .http2Upgrade(tlsConfiguration: certificate.serverConfiguration),
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { port.yield($0.localAddress?.port ?? 0) },
            logger: logger)
        let group = ServiceGroup(services: [application], logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                try await group.run()
                port.finish()
            }
            guard let port = await ports.first(where: { _ in true }) else { return try await tasks.waitForAll() }
            let server = TLSServer(port: port, certificateFile: certificateFile, log: log)
            let result: Result<Void, any Error>
            do {
                result = .success(try await body(server))
            } catch {
                result = .failure(error)
            }
            // Not by cancelling: SwiftNIO traps when that meets a stream that has just been opened.
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
            try result.get()
        }
    }
}

private func respond(
    to request: Hummingbird.Request, _ context: StreamContext, _ log: RequestLog,
    _ answer: @escaping @Sendable (TLSServer.Request) async throws -> TLSServer.Answer
) async throws -> Response {
    let channel = context.channel
    let body = try await request.body.collect(upTo: 1 << 20)
    let received = TLSServer.Request(
        path: request.uri.string, headers: request.headers, body: Data(body.readableBytesView),
        connection: ObjectIdentifier(channel.parent ?? channel), channel: channel)
    log.requests.withLock { $0.append(received) }
    let answer = try await cancelWhenGracefulShutdown { try await answer(received) }
    return Response(
        status: .init(code: answer.status), headers: answer.headers,
        body: .init(byteBuffer: ByteBuffer(bytes: answer.body)))
}

private final class RequestLog: Sendable {
    let requests = Mutex<[TLSServer.Request]>([])
}

/// Gives a handler the stream that its request came on.
private struct StreamContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }
}
