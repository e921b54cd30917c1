import FoundationEssentials
import NIOCore
import NIOHTTP1
import NIOPosix

/// Runs a body with push services on free loopback ports, and closes them afterwards, with all of their connections.
package func withPushServices<Value>(
    _ count: Int, isolation: isolated (any Actor)? = #isolation, _ body: ([TestPushService]) async throws -> Value
) async throws -> Value {
    // A separate event loop group: its shutdown closes every connection.
    let threads = MultiThreadedEventLoopGroup(numberOfThreads: max(1, count))
    return try await perform {
        var services: [TestPushService] = []
        for _ in 0..<count {
            let service = TestPushService()
            let listener = try await ServerBootstrap(group: threads)
                .serverChannelOption(.backlog, value: 256)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
                .childChannelInitializer { connection in
                    connection.eventLoop.makeCompletedFuture {
                        let pipeline = connection.pipeline.syncOperations
                        try pipeline.configureHTTPServerPipeline()
                        try pipeline.addHandler(PushReader(of: service))
                    }
                }
                .bind(host: "127.0.0.1", port: 0).get()
            service.listens(on: listener.localAddress?.port ?? 0)
            services.append(service)
        }
        return try await body(services)
    } finally: {
        try await threads.shutdownGracefully()
    }
}

/// A request of a sender, which is answered on its channel.
struct ReceivedPush: Sendable {
    /// The path of each endpoint, without the name of its subscription.
    static let path = "/push/"

    let channel: any Channel
    /// The name of the subscription.
    let name: String
    let body: Data

    func answer(_ status: HTTPResponseStatus) {
        var headers: HTTPHeaders = ["Content-Length": "0"]
        if status == .created { headers.add(name: "Location", value: Self.path + "message") }
        if status == .tooManyRequests { headers.add(name: "Retry-After", value: "1") }
        let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
        // Without its sender it is dropped.
        channel.write(HTTPServerResponsePart.head(head), promise: nil)
        channel.writeAndFlush(HTTPServerResponsePart.end(nil), promise: nil)
    }

    func closeConnection() {
        channel.close(promise: nil)
    }
}

/// Collects the requests of a connection.
private final class PushReader: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart

    private let service: TestPushService
    private var path = ""
    private var body = ByteBuffer()

    init(of service: TestPushService) {
        self.service = service
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            path = head.uri
            body.clear()
        case .body(var part): body.writeBuffer(&part)
        case .end:
            let name = path.hasPrefix(ReceivedPush.path) ? String(path.dropFirst(ReceivedPush.path.count)) : ""
            service.receive(ReceivedPush(channel: context.channel, name: name, body: Data(body.readableBytesView)))
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
