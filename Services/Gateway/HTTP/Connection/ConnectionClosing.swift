import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Closes the connection after a response if the request or the response says `Connection: close`, or if the response was written
/// before the end of the request. In that case the rest of the body is not read.
///
/// When the gateway stops, each further response says `Connection: close`, and an idle connection is closed a moment later: its client
/// may be sending a request just now, which would get no answer.
///
/// If both directions were closed at once, a client that is still sending would get a reset and lose the response. So the sending
/// direction is closed first. Arriving bytes are dropped until the client closes, within limits of time and size.
final class ConnectionClosing: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let timeout: TimeAmount
    private let stopGrace: TimeAmount
    /// Whether the last request has begun and not ended.
    private var isReadingRequest = false
    /// Whether the last request says `Connection: close`.
    private var isLastRequest = false
    /// Requests that have begun and whose responses have not ended.
    private var unanswered = 0
    private var closesAfterResponse = false
    private var isStopping = false
    private var isClosing = false
    /// Bytes that have arrived while closing.
    private var dropped = 0

    /// The maximum number of bytes that are dropped before reading stops.
    private static let maxDropped = 1_024 * 1_024

    /// - Parameters:
    ///   - timeout: How long the client may still send.
    ///   - stopGrace: How long an idle connection stays open when the gateway stops.
    init(timeout: TimeAmount, stopGrace: TimeAmount) {
        self.timeout = timeout
        self.stopGrace = stopGrace
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
        if event is ChannelShouldQuiesceEvent {
            isStopping = true
            closeSoon(context)
            return
        }
        context.fireUserInboundEventTriggered(event)
        if isClosing, case .inputClosed = event as? ChannelEvent { context.close(promise: nil) }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head):
            let answersLast = unanswered <= 1 && head.status.kind != .informational
            guard answersLast, isReadingRequest || isLastRequest || isStopping else {
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
            guard closesAfterResponse else {
                // The gateway stops since the head was written.
                if isStopping { closeSoon(context) }
                return context.write(data, promise: promise)
            }
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

    /// Closes the connection after a moment, unless a request comes: its response closes the connection.
    private func closeSoon(_ context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: stopGrace) {
            let (handler, context) = bound.value
            guard context.channel.isActive, !handler.isClosing, handler.unanswered == 0 else { return }
            handler.isClosing = true
            handler.close(context)
        }
    }

    private func close(_ context: ChannelHandlerContext) {
        context.close(mode: .output, promise: nil)
        context.read()
        let channel = context.channel
        context.eventLoop.scheduleTask(in: timeout) { channel.close(promise: nil) }
    }
}
