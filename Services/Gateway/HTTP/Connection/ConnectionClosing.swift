import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Closes the connection after a response if the request or the response says `Connection: close`, or if the response was written
/// before the end of the request. In that case the rest of the body is not read.
///
/// If both directions were closed at once, a client that is still sending would get a reset and lose the response. So the sending
/// direction is closed first. Arriving bytes are dropped until the client closes, within limits of time and size.
final class ConnectionClosing: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let timeout: TimeAmount
    /// Whether the last request has begun and not ended.
    private var isReadingRequest = false
    /// Whether the last request says `Connection: close`.
    private var isLastRequest = false
    /// Requests that have begun and whose responses have not ended.
    private var unanswered = 0
    private var closesAfterResponse = false
    private var isClosing = false
    /// Bytes that have arrived while closing.
    private var dropped = 0

    /// The maximum number of bytes that are dropped before reading stops.
    private static let maxDropped = 1_024 * 1_024

    /// - Parameter timeout: How long the client may still send.
    init(timeout: TimeAmount) {
        self.timeout = timeout
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        guard !isClosing else {
            if case .body(let bytes) = part { dropped += bytes.readableBytes }
            return
        }
        switch part {
        case .head(let head):
            isReadingRequest = true
            isLastRequest = head.headerFields[.connection]?.lowercased() == "close"
            unanswered += 1
        case .body: break
        case .end: isReadingRequest = false
        }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.fireChannelReadComplete()
        // The next handler may not read any more, but the client's end of the connection must be noticed.
        if isClosing { read(context: context) }
    }

    func read(context: ChannelHandlerContext) {
        if dropped < Self.maxDropped { context.read() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        context.fireUserInboundEventTriggered(event)
        if isClosing, case .inputClosed = event as? ChannelEvent { context.close(promise: nil) }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head):
            let answersLast = unanswered <= 1 && head.status.kind != .informational
            guard answersLast, isReadingRequest || isLastRequest else {
                closesAfterResponse = head.headerFields[.connection] == "close"
                return context.write(data, promise: promise)
            }
            head.headerFields[.connection] = "close"
            closesAfterResponse = true
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body:
            context.write(data, promise: promise)
        case .end:
            unanswered -= 1
            guard closesAfterResponse else { return context.write(data, promise: promise) }
            isClosing = true
            let written = promise ?? context.eventLoop.makePromise()
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            written.futureResult.whenSuccess {
                let (handler, context) = bound.value
                handler.close(context)
            }
            context.writeAndFlush(data, promise: written)
        }
    }

    private func close(_ context: ChannelHandlerContext) {
        context.close(mode: .output, promise: nil)
        context.read()
        let channel = context.channel
        context.eventLoop.scheduleTask(in: timeout) { channel.close(promise: nil) }
    }
}
