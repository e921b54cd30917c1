import HTTPRouting
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOExtras
import NIOPosix
import Schemas
import ServiceKit
import ServiceLifecycle

/// The gateway's HTTP server on a socket that the service manager has opened. Hummingbird's own server can only open one itself.
struct PassedSocketServer<Responder: HTTPResponder>: Service where Responder.Context == GatewayContext {
    let socket: PassedSocket
    let responder: Responder
    let channel: @Sendable (@escaping HTTPChannelHandler.Responder) -> GatewayChannel
    let onServerRunning: @Sendable (any NIOCore.Channel) async -> Void
    let logger: Logger

    func run() async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let quiescing = ServerQuiescingHelper(group: group)
        let connections = channel(respond)
        let logger = logger
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
                    // The requests under way still get their answers.
                    logger.error("no more connections are accepted", metadata: ["error": "\(error)"])
                }
            }
        } onGracefulShutdown: {
            // Only this process's descriptor is closed. New connections wait in the socket until the next process accepts them.
            Self.stopAccepting(server.channel, group).whenComplete { _ in quiescing.initiateShutdown(promise: nil) }
        }
    }

    /// Accepts no further connection, and waits until those that were accepted are set up. NIO drops the ones that are not when the
    /// listening channel closes: their clients would get no answer.
    private static func stopAccepting(_ channel: any NIOCore.Channel, _ group: some EventLoopGroup) -> EventLoopFuture<Void> {
        channel.setOption(.autoRead, value: false).flatMap {
            // Each was set up in one turn of its loop, before this one.
            .andAllComplete(group.makeIterator().map { $0.submit {} }, on: channel.eventLoop)
        }
    }

    /// Answers a request as Hummingbird's `Application` does.
    @Sendable private func respond(
        to request: Request, writer: consuming ResponseWriter, channel: any NIOCore.Channel
    ) async throws {
        let context = GatewayContext(source: .init(channel: channel, logger: logger))
        var response: Response
        do {
            response = try await responder.respond(to: request, context: context)
        } catch {
            logger.debug("a request failed", metadata: ["error": "\(error)"])
            response = Response(status: .internalServerError)
        }
        response.headers[.date] = UnixMilliseconds.now.httpDate
        try await writer.write(response: response.head, body: response.body)
    }
}
