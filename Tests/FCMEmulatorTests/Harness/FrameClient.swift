import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOPosix
import NIOSSL
import Synchronization

/// An HTTP/2 client that shows every received frame and can send any frame.
struct FrameClient {
    struct Ended: Error {}

    private let channel: any Channel
    private let collector: FrameCollector.State
    private var frames: AsyncStream<HTTP2Frame>.AsyncIterator

    /// Connects, and sends frames before the server's first frame can arrive.
    static func with<Result>(
        port: Int, opening: [HTTP2Frame] = [], isolation: isolated (any Actor)? = #isolation,
        _ body: (inout FrameClient) async throws -> Result
    ) async throws -> Result {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.applicationProtocols = ["h2"]
        tls.certificateVerification = .none
        let context = try NIOSSLContext(configuration: tls)
        let (frames, continuation) = AsyncStream<HTTP2Frame>.makeStream()
        let state = FrameCollector.State()
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers([
                        try NIOSSLClientHandler(context: context, serverHostname: nil), NIOHTTP2Handler(mode: .client),
                        FrameCollector(opening: opening, frames: continuation, state: state),
                    ])
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
        var client = FrameClient(channel: channel, collector: state, frames: frames.makeAsyncIterator())
        do {
            let result = try await body(&client)
            try? await channel.close()
            return result
        } catch {
            try? await channel.close()
            throw error
        }
    }

    func send(_ frames: [HTTP2Frame]) async throws {
        for frame in frames { channel.write(frame, promise: nil) }
        // A flush has no future, but an empty last write has one.
        try await channel.eventLoop.submit { [channel] in channel.flush() }.get()
    }

    /// Waits for the next matching frame.
    ///
    /// - Throws: ``Ended`` if the connection ends before.
    mutating func next<Found>(_ find: (HTTP2Frame) -> Found?) async throws -> Found {
        while let frame = await frames.next() {
            if let found = find(frame) { return found }
        }
        throw Ended()
    }

    struct GoAway: Hashable {
        let lastStream: Int
        let code: HTTP2ErrorCode
        let text: String
    }

    mutating func nextGoAway() async throws -> GoAway {
        try await next { frame in
            guard case .goAway(let last, let code, let text) = frame.payload else { return nil }
            return GoAway(lastStream: Int(last), code: code, text: text.map { String(buffer: $0) } ?? "")
        }
    }

    /// Waits for the connection's end.
    ///
    /// - Returns: Whether it came without TLS's `close_notify`, as after a TCP reset.
    @discardableResult
    mutating func ends() async -> Bool {
        while await frames.next() != nil {}
        return collector.wasCut.withLock(\.self)
    }
}

extension HTTP2Frame {
    /// The headers of a request, with or without a body.
    ///
    /// - Parameters:
    ///   - authority: `nil` for a request without one.
    ///   - extra: Further headers.
    static func request(
        _ stream: HTTP2StreamID, _ method: String, _ path: String, ends: Bool, authority: String? = "127.0.0.1",
        extra: [(String, String)] = []
    ) -> HTTP2Frame {
        var headers: HPACKHeaders = [":method": method, ":scheme": "https"]
        if let authority { headers.add(name: ":authority", value: authority) }
        headers.add(name: ":path", value: path)
        headers.add(name: "authorization", value: "Bearer owner")
        for (name, value) in extra { headers.add(name: name, value: value) }
        return HTTP2Frame(streamID: stream, payload: .headers(.init(headers: headers, endStream: ends)))
    }

    /// A complete send.
    static func send(_ stream: HTTP2StreamID, to topic: String) -> [HTTP2Frame] {
        [
            .request(stream, "POST", "/v1/projects/msi-emulator/messages:send", ends: false),
            .body(stream, #"{"message":{"topic":"\#(topic)"}}"#),
        ]
    }

    static func body(_ stream: HTTP2StreamID, _ text: String) -> HTTP2Frame {
        HTTP2Frame(streamID: stream, payload: .data(.init(data: .byteBuffer(ByteBuffer(string: text)), endStream: true)))
    }

    static var ping: HTTP2Frame {
        HTTP2Frame(streamID: .rootStream, payload: .ping(HTTP2PingData(withInteger: 1), ack: false))
    }

    /// The status of an answer on a stream.
    func status(of stream: HTTP2StreamID) -> String? {
        guard streamID == stream, case .headers(let frame) = payload else { return nil }
        return frame.headers.first(name: ":status")
    }

    /// `true` for the last frame of an answer, and otherwise `nil`.
    func isEnd(of stream: HTTP2StreamID) -> Bool? {
        guard streamID == stream else { return nil }
        return switch payload {
        case .data(let frame) where frame.endStream: true
        case .headers(let frame) where frame.endStream: true
        default: nil
        }
    }

    /// The code with which a stream was reset.
    func resetCode(of stream: HTTP2StreamID) -> HTTP2ErrorCode? {
        guard streamID == stream, case .rstStream(let code) = payload else { return nil }
        return code
    }
}

private final class FrameCollector: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    final class State: Sendable {
        let wasCut = Mutex(false)
    }

    private let opening: [HTTP2Frame]
    private let frames: AsyncStream<HTTP2Frame>.Continuation
    private let state: State

    init(opening: [HTTP2Frame], frames: AsyncStream<HTTP2Frame>.Continuation, state: State) {
        self.opening = opening
        self.frames = frames
        self.state = state
    }

    /// On the event loop: a task that waits for a processor may come after the server's SETTINGS, whose limits hold for the client.
    func channelActive(context: ChannelHandlerContext) {
        for frame in opening { context.write(wrapOutboundOut(frame), promise: nil) }
        context.flush()
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        frames.yield(unwrapInboundIn(data))
    }

    func channelInactive(context: ChannelHandlerContext) {
        frames.finish()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // An error of a dropped stream does not end the connection.
        guard !(error is NIOHTTP2Errors.StreamError) else { return }
        if error is IOError || error as? NIOSSLError == .uncleanShutdown { state.wasCut.withLock { $0 = true } }
        context.close(promise: nil)
    }
}
