import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// The channel of a connection to the gateway: Hummingbird's HTTP/1 channel with the gateway's limits.
///
/// The handlers in the order of arriving bytes: NIO's decoder, ``UpgradeRefusal``, NIO's codec for `HTTPTypes`,
/// ``ResponseHeaders``, ``ConnectionClosing``, ``ConnectionDeadlines``, and Hummingbird.
struct GatewayChannel: ServerChildChannel, HTTPChannelHandler {
    typealias Value = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    let responder: Responder
    let limit: ConnectionLimit
    let timeouts: ConnectionTimeouts

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        limit.opened(channel)
        return channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(HTTPResponseEncoder())
            let decoder = UpgradeRefusal.makeDecoder()
            try pipeline.addHandler(decoder)
            try pipeline.addHandler(UpgradeRefusal(behind: decoder))
            try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: false))
            try pipeline.addHandler(ResponseHeaders())
            try pipeline.addHandler(ConnectionClosing(timeout: timeouts.closing))
            try pipeline.addHandler(ConnectionDeadlines(timeouts, logger: logger))
            // It lets a request finish when the gateway stops.
            try pipeline.addHandler(HTTPConnectionStateHandler(logger: logger))
            return try Value(wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
        }
    }

    func handle(value: Value, logger: Logger) async {
        await handleHTTP(asyncChannel: value, logger: logger)
    }
}
