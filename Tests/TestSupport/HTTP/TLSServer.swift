package import FoundationEssentials
package import HTTPTypes
import NIOCore
import NIOHTTP2
import NIOHTTPTypesHTTP2
import NIOPosix
import NIOSSL
import Synchronization

/// An HTTP/2 server with TLS on a free loopback port.
package final class TLSServer: Sendable {
    /// A client's request.
    package struct Request: Sendable {
        package let path: String
        package let headers: HTTPFields
        package let body: Data
        package let connection: ObjectIdentifier
        let channel: any Channel

        /// Closes the request's connection, without an answer to any request on it.
        package func dropConnection() async throws {
            try await channel.parent?.close()
        }

        /// Ends the request's stream without an answer.
        package func resetStream() async throws {
            try await channel.close()
        }
    }

    /// An answer to a request.
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

    package typealias Handler = @Sendable (Request) async throws -> Answer

    /// `https://127.0.0.1:<port>`.
    package let url: String
    /// The PEM file of the certificate to trust.
    package let certificateFile: String
    private let log: RequestLog

    fileprivate init(port: Int, certificateFile: String, log: RequestLog) {
        url = "https://127.0.0.1:\(port)"
        self.certificateFile = certificateFile
        self.log = log
    }

    /// The requests so far, in order.
    package var requests: [Request] { log.requests.withLock(\.self) }

    /// The number of connections with requests.
    package var connections: Int { Set(requests.map(\.connection)).count }
}

/// Runs a test with a server, and stops the server afterwards, even in the middle of an answer.
///
/// - Parameter answer: Cancelled when its client leaves or the server stops.
package func withTLSServer(
    answer: @escaping TLSServer.Handler, _ body: @escaping @Sendable (TLSServer) async throws -> Void
) async throws {
    try await withTemporaryFolder { folder in
        let certificate = try TestCertificate()
        let certificateFile = folder + "/ca.pem"
        try Data(certificate.pem.utf8).write(to: URL(filePath: certificateFile))
        let log = RequestLog()
        // A separate event loop group: its shutdown closes every connection.
        let threads = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        try await perform {
            let listener = try await listen(on: threads, certificate, log, answer)
            let port = listener.localAddress?.port ?? 0
            try await body(TLSServer(port: port, certificateFile: certificateFile, log: log))
        } finally: {
            try await threads.shutdownGracefully()
        }
    }
}

private func listen(
    on threads: MultiThreadedEventLoopGroup, _ certificate: TestCertificate, _ log: RequestLog,
    _ answer: @escaping TLSServer.Handler
) async throws -> any Channel {
    var configuration = try certificate.serverConfiguration
    configuration.applicationProtocols = ["h2"]
    let tls = try NIOSSLContext(configuration: configuration)
    var limits = NIOHTTP2Handler.StreamConfiguration()
    // libcurl 7.88.1 resets a stream if END_STREAM comes after the last byte, although the answer is complete. By default
    // SwiftNIO treats 200 resets as an attack and closes the connection with a GOAWAY that excludes all requests. Then libcurl
    // repeats answered requests.
    limits.streamResetFrameRateLimit.maximumCount = 1_000_000
    let streams = limits
    return try await ServerBootstrap(group: threads)
        .serverChannelOption(.backlog, value: 256)
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
        .childChannelInitializer { connection in
            connection.eventLoop.makeCompletedFuture {
                let pipeline = connection.pipeline.syncOperations
                try pipeline.addHandler(NIOSSLServerHandler(context: tls))
                _ = try pipeline.configureHTTP2Pipeline(
                    mode: .server, connectionConfiguration: .init(), streamConfiguration: streams
                ) { stream in
                    stream.eventLoop.makeCompletedFuture {
                        try stream.pipeline.syncOperations.addHandlers(
                            HTTP2FramePayloadToHTTPServerCodec(), TLSServerStream(answer: answer, log: log))
                    }
                }
            }
        }
        .bind(host: "127.0.0.1", port: 0).get()
}

/// The requests that a server has received.
final class RequestLog: Sendable {
    let requests = Mutex<[TLSServer.Request]>([])
}
