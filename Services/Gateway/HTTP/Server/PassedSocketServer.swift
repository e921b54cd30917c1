import HummingbirdCore
import Logging
import NIOCore
import NIOExtras
import NIOHTTPTypes
import NIOPosix
import ServiceKit
import ServiceLifecycle
import Synchronization

/// The gateway's HTTP server on a socket that the service manager has opened. Hummingbird's own server can only open a socket
/// itself.
struct PassedSocketServer: Service {
    let socket: PassedSocket
    let connections: GatewayChannel
    let onServerRunning: @Sendable (any NIOCore.Channel) async -> Void
    let logger: Logger

    func run() async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let quiescing = ServerQuiescingHelper(group: group)
        let (connections, logger) = (connections, logger)
        let server = try await ServerBootstrap(group: group)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(quiescing.makeServerChannelHandler(channel: channel))
                }
            }
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .bind(socket.descriptor) { connections.setup(channel: $0, logger: logger) }
        await withGracefulShutdownHandler {
            await onServerRunning(server.channel)
            await withDiscardingTaskGroup { group in
                do {
                    try await server.executeThenClose { inbound in
                        for try await connection in inbound {
                            group.addTask { await connections.handle(value: connection, logger: logger) }
                        }
                    }
                } catch {
                    // Requests in progress still get their answers.
                    logger.error("no more connections are accepted", metadata: ["error": "\(error)"])
                }
            }
        } onGracefulShutdown: {
            // Only this process's descriptor is closed. New connections wait in the socket until the next process accepts them.
            Self.stopAccepting(server.channel, group).whenComplete { _ in quiescing.initiateShutdown(promise: nil) }
        }
    }

    /// Stops accepting connections, and waits until the accepted ones are set up. When the listening channel closes, NIO drops
    /// those that are not, and their clients would get no answer.
    private static func stopAccepting(_ channel: any NIOCore.Channel, _ group: some EventLoopGroup) -> EventLoopFuture<Void> {
        channel.setOption(.autoRead, value: false).flatMap {
            // An accepted connection is set up in one task of its loop, which was submitted before this one.
            .andAllComplete(group.makeIterator().map { $0.submit {} }, on: channel.eventLoop)
        }
    }
}

/// A connection that the listening socket has accepted, on its way to the server's loop.
///
/// A connection that is accepted during a stop reaches that loop too late, and the loop drops it. NIO ends the process if the
/// channel of such a connection was never used. So a separate task answers a dropped connection, and the stop waits for it.
final class AcceptedConnection: ServerChildChannelValue {
    typealias Connection = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    private let connection: Connection
    private let answer: @Sendable (Connection) async -> Void
    private let isTaken = Atomic<Bool>(false)

    /// - Parameter answer: Answers the requests of the connection until it is closed.
    init(_ connection: Connection, answer: @escaping @Sendable (Connection) async -> Void) {
        self.connection = connection
        self.answer = answer
    }

    deinit {
        guard !isTaken.load(ordering: .acquiring) else { return }
        Task { [connection, answer] in await answer(connection) }
    }

    var channel: any NIOCore.Channel { connection.channel }

    /// Answers its requests. Call it once.
    func run() async {
        isTaken.store(true, ordering: .releasing)
        await answer(connection)
    }
}
