import NIOCore
import NIOPosix
import Synchronization

/// A TCP proxy that can make connections go silent, like a firewall that has dropped its state: a connection stays open, its
/// bytes are accepted, and nothing arrives at the other end.
package final class TCPProxy: Sendable {
    /// The port that clients connect to.
    package let port: Int
    private let links: Links

    fileprivate init(port: Int, links: Links) {
        self.port = port
        self.links = links
    }

    /// Makes the current connections go silent. New ones work.
    package func silenceConnections() {
        links.state.withLock { $0.swallowed = $0.opened }
    }

    /// Breaks the current connections. New ones work.
    package func closeConnections() {
        links.closeAll()
    }

    /// Breaks the current connections, and every new one, until ``accept()``.
    package func refuse() {
        links.state.withLock { $0.isRefusing = true }
        links.closeAll()
    }

    /// Accepts new connections again.
    package func accept() {
        links.state.withLock { $0.isRefusing = false }
    }

    /// The number of connections so far.
    package var connections: Int { links.state.withLock(\.opened) }

    /// The number of silent connections that the client has not closed yet.
    package var openSwallowedConnections: Int {
        links.state.withLock { state in state.swallowed - state.closed.count { $0 <= state.swallowed } }
    }
}

/// Runs a test with a proxy in front of a server's port.
package func withTCPProxy<Value>(
    to serverPort: Int, isolation: isolated (any Actor)? = #isolation, _ body: (TCPProxy) async throws -> Value
) async throws -> Value {
    let threads = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let links = Links()
    return try await perform {
        let listener = try await ServerBootstrap(group: threads)
            .childChannelInitializer { client in
                guard let number = links.open(client) else { return client.close() }
                let server = ClientBootstrap(group: client.eventLoop).connect(host: "127.0.0.1", port: serverPort)
                return server.flatMap { server in
                    client.eventLoop.makeCompletedFuture {
                        try client.pipeline.syncOperations.addHandler(Forwarder(to: server, number, links, isClient: true))
                        try server.pipeline.syncOperations.addHandler(Forwarder(to: client, number, links, isClient: false))
                    }
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return try await body(TCPProxy(port: listener.localAddress?.port ?? 0, links: links))
    } finally: {
        try await threads.shutdownGracefully()
    }
}

/// The connections of a proxy, numbered from 1 in order.
private final class Links: Sendable {
    struct State {
        var opened = 0
        var closed: Set<Int> = []
        /// Connections up to this number are silent.
        var swallowed = 0
        /// Whether new connections are closed at once.
        var isRefusing = false
        /// The client channels of open connections.
        var clients: [Int: any Channel] = [:]
    }

    let state = Mutex(State())

    /// - Returns: The connection's number; `nil` if it is refused.
    func open(_ client: any Channel) -> Int? {
        state.withLock { state in
            state.opened += 1
            if state.isRefusing {
                state.closed.insert(state.opened)
                return nil
            }
            state.clients[state.opened] = client
            return state.opened
        }
    }

    func closed(_ number: Int) {
        state.withLock { state in
            state.closed.insert(number)
            state.clients[number] = nil
        }
    }

    func closeAll() {
        for client in state.withLock({ Array($0.clients.values) }) { client.close(promise: nil) }
    }
}

/// Forwards the bytes of one end of a connection to the other, or drops them.
private final class Forwarder: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let peer: any Channel
    private let number: Int
    private let links: Links
    private let isClient: Bool

    init(to peer: any Channel, _ number: Int, _ links: Links, isClient: Bool) {
        self.peer = peer
        self.number = number
        self.links = links
        self.isClient = isClient
    }

    private var isSwallowed: Bool { links.state.withLock { number <= $0.swallowed } }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if !isSwallowed { peer.writeAndFlush(unwrapInboundIn(data), promise: nil) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        if isClient { links.closed(number) }
        if !isSwallowed || isClient { peer.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
