import Glibc
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP2
import NIOHTTPTypes
import NIOHTTPTypesHTTP2

/// The connection and the stream that a request came on. Fault injection breaks them.
struct Exchange: Sendable {
    /// The exchange of the request that the current task answers; `nil` outside a request.
    @TaskLocal static var current: Exchange?

    let connection: any Channel
    /// `nil` on a connection of HTTP/1.1, which has no streams.
    let stream: Stream?

    struct Stream: Sendable {
        let number: Int
        let channel: any Channel
        let ledger: SharedConnectionState
    }

    /// Notes that the request is about to be processed.
    ///
    /// - Returns: `false` if a GOAWAY has excluded it. Then the stream is reset.
    func take() async -> Bool {
        guard let stream, !stream.ledger.withLock({ $0.take(stream.number) }) else { return true }
        await resetStream(.refusedStream)
        return false
    }

    /// Ends the request without an answer.
    func resetStream(_ code: HTTP2ErrorCode) async {
        guard let stream else { return await closeConnection() }
        await done(stream.channel.triggerUserOutboundEvent(StreamReset.Request(code: code)))
    }

    /// Closes the connection in an orderly way, but without a GOAWAY.
    func closeConnection() async {
        await done(connection.close())
    }

    /// Ends the connection by a TCP reset, as a server that crashes does.
    func cutConnection() async {
        await done(connection.triggerUserOutboundEvent(ConnectionCut()))
    }

    /// Sends a GOAWAY that covers all streams that have arrived.
    func goAway(because reason: GoAway.Reason) async {
        guard let stream else { return }
        await send(stream.ledger.withLock { $0.goAway(because: reason) })
    }

    /// Sends a GOAWAY that excludes this request and all others that were not taken.
    func goAwayUntaken(because reason: GoAway.Reason) async {
        guard let stream else { return await closeConnection() }
        let goAway = stream.ledger.withLock { $0.goAwayFromUntaken(because: reason) }
        await send(goAway)
        // A later request was taken already, so the GOAWAY covers this one as well.
        if stream.number <= goAway.lastStream { await resetStream(.refusedStream) }
    }

    func send(_ goAway: GoAway) async {
        await done(connection.triggerUserOutboundEvent(goAway))
    }

    /// Waits until the connection or stream has ended. It does not matter whether the client ended it first.
    private func done(_ end: EventLoopFuture<Void>) async {
        try? await end.get()
    }
}

/// A user event that makes the first handler of a connection reset it.
struct ConnectionCut: Sendable {}

extension ChannelHandlerContext {
    /// Closes the socket so that the peer gets a TCP reset, without TLS's `close_notify`.
    func cut() {
        // This fails only if the socket is closed already.
        _ = (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
        close(promise: nil)
    }
}

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
