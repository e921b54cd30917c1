import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP2
import NIOHTTPTypes
import NIOHTTPTypesHTTP2

/// One request on an HTTP/2 connection, and its answer.
struct HTTP2Stream: HTTPChannelHandler {
    struct Value: ServerChildChannelValue {
        let parts: NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>
        let exchange: Exchange
        let admission: ConnectionStateMachine.Admission

        var channel: any Channel { parts.channel }
    }

    let responder: Responder
    let ledger: SharedConnectionState

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            guard let id = try channel.syncOptions?.getOption(HTTP2StreamChannelOptions.streamID), let connection = channel.parent
            else { throw ChannelError.operationUnsupported }
            try channel.pipeline.syncOperations.addHandlers([
                EndStreamOnLastData(), StreamReset(), HTTP2FramePayloadToHTTPServerCodec(),
                HTTPConnectionStateHandler(logger: logger),
            ])
            let number = Int(id)
            return Value(
                parts: try NIOAsyncChannel(wrappingChannelSynchronously: channel),
                exchange: Exchange(connection: connection, stream: .init(number: number, channel: channel, ledger: ledger)),
                admission: ledger.withLock { $0.arrived(number) })
        }
    }

    func handle(value: Value, logger: Logger) async {
        switch value.admission {
        case .admitted:
            await Exchange.$current.withValue(value.exchange) {
                await handleHTTP(asyncChannel: value.parts, logger: logger)
            }
        case .refused:
            await dismiss(value, logger) { await $0.resetStream(.refusedStream) }
        case .tooMany(let goAway):
            await dismiss(value, logger) { await $0.send(goAway) }
        }
    }

    private func dismiss(_ value: Value, _ logger: Logger, _ farewell: (Exchange) async -> Void) async {
        do {
            try await value.parts.executeThenClose { _, _ in await farewell(value.exchange) }
        } catch {
            logger.debug("a stream too many had ended already", metadata: ["error": "\(error)"])
        }
    }
}
