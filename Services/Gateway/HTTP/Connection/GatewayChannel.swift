import HTTPRouting
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import NIOSSL

/// The channel of a connection to the gateway: Hummingbird's HTTP/1 channel with TLS and the gateway's limits.
///
/// The handlers in the order of arriving bytes: TLS if there is a certificate, NIO's decoder, ``UpgradeRefusal``, `AnswerFraming`, NIO's
/// codec for `HTTPTypes`, ``ResponseHeaders``, ``ConnectionClosing``, ``ConnectionDeadlines``, and ``MalformedRequests``.
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

    /// The encoder's own framing would make chunks of an answer to HEAD without a length.
    private static let unframed = {
        var configuration = HTTPResponseEncoder.Configuration()
        configuration.automaticallySetFramingHeaders = false
        return configuration
    }()

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let activity = limit.opened(channel)
        return channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            if let certificate { try pipeline.addHandler(NIOSSLServerHandler(context: certificate.context)) }
            try pipeline.addHandler(HTTPResponseEncoder(configuration: Self.unframed))
            let decoder = UpgradeRefusal.makeDecoder()
            try pipeline.addHandler(decoder)
            try pipeline.addHandler(UpgradeRefusal(behind: decoder))
            try pipeline.addHandler(AnswerFraming())
            try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: certificate != nil))
            try pipeline.addHandler(ResponseHeaders(security))
            try pipeline.addHandler(ConnectionClosing(timeout: timeouts.closing, stopGrace: timeouts.stopping))
            try pipeline.addHandler(ConnectionDeadlines(timeouts, activity: activity, logger: logger))
            try pipeline.addHandler(MalformedRequests())
            let connection = try AcceptedConnection.Connection(
                wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
            return AcceptedConnection(connection) { await handleHTTP(asyncChannel: $0, logger: logger) }
        }
    }

    func handle(value: Value, logger: Logger) async {
        await value.run()
    }
}
