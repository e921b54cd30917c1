package import FoundationEssentials
package import HTTPTypes
import Hummingbird
import HummingbirdHTTP2
import Logging
import NIOCore
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

/// Runs a test with a server, and stops the server, also in the middle of an answer.
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
        let application = Application(
            responder: CallbackResponder<StreamContext> { request, context in
                try await respond(to: request, context, log, answer)
            },
            server: try .http2Upgrade(tlsConfiguration: certificate.serverConfiguration),
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { port.yield($0.localAddress?.port ?? 0) },
            logger: Logger(label: "test-server") { _ in SwiftLogNoOpLogHandler() })
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await application.run() }
            guard let port = await ports.first(where: { _ in true }) else { return }
            let server = TLSServer(port: port, certificateFile: certificateFile, log: log)
            do {
                try await body(server)
                group.cancelAll()
            } catch {
                group.cancelAll()
                throw error
            }
        }
    }
}

private func respond(
    to request: Hummingbird.Request, _ context: StreamContext, _ log: RequestLog,
    _ answer: @Sendable (TLSServer.Request) async throws -> TLSServer.Answer
) async throws -> Response {
    let channel = context.channel
    let body = try await request.body.collect(upTo: 1 << 20)
    let received = TLSServer.Request(
        path: request.uri.string, headers: request.headers, body: Data(body.readableBytesView),
        connection: ObjectIdentifier(channel.parent ?? channel), channel: channel)
    log.requests.withLock { $0.append(received) }
    let answer = try await answer(received)
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
