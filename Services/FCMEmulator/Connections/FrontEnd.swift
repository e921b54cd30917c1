import HTTPRouting
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP2
import NIOSSL
import Synchronization

/// Connections like those of FCM's front end: TLS with HTTP/2 within limits, or with HTTP/1.1, by ALPN.
struct FrontEnd: ServerChildChannel {
    typealias HTTP2Connection = NIOHTTP2Handler.AsyncStreamMultiplexer<HTTP2Stream.Value>

    struct Value: ServerChildChannelValue {
        let channel: any Channel
        fileprivate let negotiated: EventLoopFuture<NIONegotiatedHTTPVersion<HTTP1Channel.Value, (HTTP2Connection, HTTP2Stream)>>
    }

    /// The maximum number of resets, errors and control frames in 100 ms. SwiftNIO's default treats a few hundred in 30 s as an
    /// attack; a load test may have thousands of refused streams.
    private static let maxFrames = 2_000
    private static let window = TimeAmount.milliseconds(100)

    private let tls: NIOSSLContext
    private let limits: @Sendable () -> ConnectionLimits
    private let responder: HTTPChannelHandler.Responder
    private let http1: HTTP1Connections

    /// - Parameter limits: Called for each connection.
    init(
        tls: TLSConfiguration, limits: @escaping @Sendable () -> ConnectionLimits,
        responder: @escaping HTTPChannelHandler.Responder
    ) throws {
        var tls = tls
        tls.applicationProtocols = NIOHTTP2SupportedALPNProtocols
        self.tls = try NIOSSLContext(configuration: tls)
        self.limits = limits
        self.responder = ServerRequests.responder(responder)
        http1 = HTTP1Connections(responder: responder)
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        do {
            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls))
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
        return channel.configureHTTP2AsyncSecureUpgrade { connection in
            http1.setup(channel: connection, logger: logger)
        } http2ConnectionInitializer: { connection in
            connection.eventLoop.makeCompletedFuture { try setUpHTTP2(connection, logger) }
        }
        .map { Value(channel: channel, negotiated: $0) }
    }

    private func setUpHTTP2(_ connection: any Channel, _ logger: Logger) throws -> (HTTP2Connection, HTTP2Stream) {
        let limits = limits()
        let ledger = SharedConnectionState(limits: limits)
        let keeper = ConnectionLimitsHandler(limits: limits, ledger: ledger)
        let streams = HTTP2Stream(responder: responder, ledger: ledger)
        let pipeline = connection.pipeline.syncOperations
        try pipeline.addHandler(FrameRewriter(streams: limits.streams))
        let multiplexer = try pipeline.configureAsyncHTTP2Pipeline(
            mode: .server, streamDelegate: StreamObserver(keeper, on: connection.eventLoop), configuration: Self.http2
        ) { stream in
            streams.setup(channel: stream, logger: logger)
        }
        try pipeline.addHandler(keeper)
        return (multiplexer, streams)
    }

    private static var http2: NIOHTTP2Handler.Configuration {
        var configuration = NIOHTTP2Handler.Configuration()
        // The emulator counts streams itself: see FrameRewriter.
        configuration.connection.initialSettings = nioDefaultSettings.map {
            $0.parameter == .maxConcurrentStreams ? HTTP2Setting(parameter: $0.parameter, value: Int(Int32.max)) : $0
        }
        configuration.connection.maximumConnectionGlitches = .max
        configuration.connection.controlFrameRateLimit.maximumCount = maxFrames
        configuration.connection.controlFrameRateLimit.windowLength = window
        configuration.stream.streamResetFrameRateLimit.maximumCount = maxFrames
        configuration.stream.streamResetFrameRateLimit.windowLength = window
        configuration.stream.streamErrorRateLimit.maximumCount = maxFrames
        configuration.stream.streamErrorRateLimit.windowLength = window
        return configuration
    }

    func handle(value: Value, logger: Logger) async {
        do {
            switch try await value.negotiated.get() {
            case .http1_1(let connection):
                await Exchange.$current.withValue(Exchange(connection: value.channel, stream: nil)) {
                    await http1.handle(value: connection, logger: logger)
                }
            case .http2(let (connection, streams)):
                try await withThrowingDiscardingTaskGroup { group in
                    for try await stream in connection.inbound {
                        group.addTask { await streams.handle(value: stream, logger: logger) }
                    }
                }
            }
        } catch {
            logger.debug("a connection has ended early", metadata: ["error": "\(error)"])
        }
    }
}

/// Bounds how long connections live, and when they are read.
///
/// - A connection ends soon after the emulator is told to stop, even if its peer is stuck in the TLS handshake or does not
///   answer. Otherwise one peer could delay the stop indefinitely.
/// - A connection is not read before its handler runs. A connection that is accepted while the server stops has no handler.
///   SwiftNIO would trap on a request that it has to drop.
struct BoundedConnections<Base: ServerChildChannel>: ServerChildChannel {
    let base: Base

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        do {
            // The first handler, so that its close goes straight to the socket and does not wait for TLS's `close_notify`.
            try channel.pipeline.syncOperations.addHandler(StoppingDeadline())
            try channel.syncOptions?.setOption(.autoRead, value: false)
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
        return base.setup(channel: channel, logger: logger)
    }

    func handle(value: Base.Value, logger: Logger) async {
        // This fails only if the connection has ended already. The base handles that.
        try? await value.channel.setOption(.autoRead, value: true).get()
        await base.handle(value: value, logger: logger)
    }
}

/// Closes its connection a second after the server has asked it to end, and resets it on a ``ConnectionCut``.
private final class StoppingDeadline: ChannelDuplexHandler {
    typealias InboundIn = NIOAny
    typealias OutboundIn = NIOAny

    private static let closeTimeout = TimeAmount.seconds(1)

    private var end: Scheduled<Void>?

    func handlerRemoved(context: ChannelHandlerContext) {
        end?.cancel()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent, end == nil {
            end = context.eventLoop.assumeIsolated().scheduleTask(in: Self.closeTimeout) {
                context.close(mode: .all, promise: nil)
            }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard event is ConnectionCut else { return context.triggerUserOutboundEvent(event, promise: promise) }
        context.cut()
        promise?.succeed()
    }
}
