import HTTPRouting
import HummingbirdCore
import Logging
import NIOCore
import NIOSSL
import ServiceKit

/// The channel of a connection to the gateway: Hummingbird's HTTP/1 channel with TLS and the gateway's limits.
///
/// The handlers in the order of arriving bytes: TLS if there is a certificate, NIO's decoder, and ``ConnectionHandler``.
struct GatewayChannel: ServerChildChannel, HTTPChannelHandler {
    typealias Value = AcceptedConnection

    let responder: Responder
    private let limit: ConnectionLimit
    private let timeouts: ConnectionTimeouts
    private let certificate: CurrentCertificate?
    private let security: SecurityHeaders

    /// - Parameters:
    ///   - responder: Answers the requests that `ServerRequests` does not.
    ///   - certificate: `nil` for plain HTTP.
    init(
        responder: @escaping Responder, limit: ConnectionLimit, timeouts: ConnectionTimeouts, certificate: CurrentCertificate?,
        security: SecurityHeaders
    ) {
        self.responder = ServerRequests.responder(responder)
        self.limit = limit
        self.timeouts = timeouts
        self.certificate = certificate
        self.security = security
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let activity = limit.opened(channel)
        return channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            if let certificate { try pipeline.addHandler(NIOSSLServerHandler(context: certificate.context)) }
            let decoder = UpgradeRefusal.makeDecoder()
            try pipeline.addHandler(decoder)
            try pipeline.addHandler(
                ConnectionHandler(
                    behind: decoder, isSecure: certificate != nil, security, timeouts, activity: activity, logger: logger))
            let connection = try AcceptedConnection.Connection(
                wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
            // Otherwise each part of a request and of its answer would wake another thread.
            let executor = EventLoopExecutor(channel.eventLoop)
            return AcceptedConnection(connection) { connection in
                await withTaskExecutorPreference(executor) { await handleHTTP(asyncChannel: connection, logger: logger) }
            }
        }
    }

    func handle(value: Value, logger: Logger) async {
        await value.run()
    }
}
