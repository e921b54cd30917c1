import NIOCore
import NIOHTTP2

/// Keeps an HTTP/2 connection within its limits, and ends it as FCM's front end does, with the reason in the GOAWAY.
///
/// SwiftNIO's handler and Hummingbird's send a GOAWAY without a reason, and limit PINGs by time. FCM limits PINGs without a
/// request between them.
final class ConnectionLimitsHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTP2Frame
    typealias InboundOut = HTTP2Frame
    typealias OutboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    /// How long the streams that a GOAWAY covers have to finish.
    private static let grace = TimeAmount.seconds(10)

    private let limits: ConnectionLimits
    private let ledger: SharedConnectionState
    /// Marks the PING whose answer shows that the client has seen a first GOAWAY.
    private let probe = HTTP2PingData(withInteger: .random(in: .min ... .max))
    private var farewell: GoAway.Reason?
    private var context: ChannelHandlerContext?
    private var idleTimer: Scheduled<Void>?
    private var ageTimer: Scheduled<Void>?
    private var graceTimer: Scheduled<Void>?

    init(limits: ConnectionLimits, ledger: SharedConnectionState) {
        self.limits = limits
        self.ledger = ledger
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        ageTimer = limits.age.map { after(TimeAmount($0), context) { $0.leave(because: .age) } }
        startIdleTimer(context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        for timer in [idleTimer, ageTimer, graceTimer] { timer?.cancel() }
        self.context = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .ping(let content, let isAnswer) = unwrapInboundIn(data).payload {
            if isAnswer {
                if content == probe, let farewell { finish(context, because: farewell) }
            } else if let goAway = ledger.withLock({ $0.pinged() }) {
                end(context, goAway)
            }
        }
        context.fireChannelRead(data)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is ChannelShouldQuiesceEvent: leave(because: .stopping)
        case ChannelEvent.inputClosed: context.close(promise: nil)
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard let goAway = event as? GoAway else { return context.triggerUserOutboundEvent(event, promise: promise) }
        end(context, goAway)
        promise?.succeed()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // An error of one stream does not end the others.
        guard !(error is NIOHTTP2Errors.StreamError) else { return }
        context.close(promise: nil)
    }

    fileprivate func streamClosed(_ stream: Int) {
        let (isIdle, isFinished) = ledger.withLock {
            $0.closed(stream)
            return ($0.isIdle, $0.isFinished)
        }
        guard let context else { return }
        if isFinished {
            closeSoon(context)
        } else if isIdle {
            startIdleTimer(context)
        }
    }

    fileprivate func streamOpened() {
        idleTimer?.cancel()
    }

    private func startIdleTimer(_ context: ChannelHandlerContext) {
        idleTimer?.cancel()
        idleTimer = limits.idle.map { after(TimeAmount($0), context) { $0.leave(because: .idle) } }
    }

    /// Shuts the connection down gracefully (RFC 9113, 6.8). A first GOAWAY announces the end. Once the client has acknowledged a PING, a
    /// second GOAWAY names the last stream, so that no request in flight is lost.
    private func leave(because reason: GoAway.Reason) {
        guard let context, farewell == nil, !ledger.withLock(\.isLeaving) else { return }
        farewell = reason
        write(context, lastStream: .max, reason)
        context.writeAndFlush(wrapOutboundOut(HTTP2Frame(streamID: .rootStream, payload: .ping(probe, ack: false))), promise: nil)
        startGrace(context)
    }

    private func finish(_ context: ChannelHandlerContext, because reason: GoAway.Reason) {
        end(context, ledger.withLock { $0.goAway(because: reason) })
    }

    private func end(_ context: ChannelHandlerContext, _ goAway: GoAway) {
        write(context, lastStream: Int32(goAway.lastStream), goAway.reason)
        if goAway.reason.isFinal || ledger.withLock(\.isFinished) {
            closeSoon(context)
        } else {
            startGrace(context)
        }
    }

    private func write(_ context: ChannelHandlerContext, lastStream: Int32, _ reason: GoAway.Reason) {
        // Earlier writes go out first.
        context.flush()
        context.triggerUserOutboundEvent(FrameRewriter.GoAwayFrame(lastStream: lastStream, reason: reason), promise: nil)
    }

    private func startGrace(_ context: ChannelHandlerContext) {
        guard graceTimer == nil else { return }
        graceTimer = after(Self.grace, context) { $0.context?.close(promise: nil) }
    }

    /// Closes the connection after the writes of this turn of the event loop have gone out.
    private func closeSoon(_ context: ChannelHandlerContext) {
        context.eventLoop.assumeIsolated().execute { context.close(promise: nil) }
    }

    private func after(
        _ delay: TimeAmount, _ context: ChannelHandlerContext, _ work: @escaping (ConnectionLimitsHandler) -> Void
    ) -> Scheduled<Void> {
        context.eventLoop.assumeIsolated().scheduleTask(in: delay) { work(self) }
    }
}

/// Tells the connection's handler when streams open and close. SwiftNIO calls it in the same turn of the event loop.
struct StreamObserver: NIOHTTP2StreamDelegate {
    private let keeper: NIOLoopBound<ConnectionLimitsHandler>

    init(_ keeper: ConnectionLimitsHandler, on eventLoop: any EventLoop) {
        self.keeper = NIOLoopBound(keeper, eventLoop: eventLoop)
    }

    func streamCreated(_ id: HTTP2StreamID, channel: any Channel) {
        keeper.value.streamOpened()
    }

    func streamClosed(_ id: HTTP2StreamID, channel: any Channel) {
        keeper.value.streamClosed(Int(id))
    }
}
