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
