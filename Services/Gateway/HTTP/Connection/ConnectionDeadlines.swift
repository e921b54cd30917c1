import HTTPTypes
import Logging
import NIOCore
import NIOHTTPTypes
import Time

/// Ends a connection whose client takes too long to begin a request, to send the rest of it, or to read the response.
///
/// A deadline is for the whole request or response. A client that sends or reads single bytes gains no time.
final class ConnectionDeadlines: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let logger: Logger
    private let timeouts: ConnectionTimeouts
    private var phase: ConnectionPhase
    private var alarm = Alarm<NIODeadline>()
    /// Rings the alarm.
    private var timer: Scheduled<Void>?

    init(_ timeouts: ConnectionTimeouts, logger: Logger) {
        self.timeouts = timeouts
        self.logger = logger
        phase = ConnectionPhase(timeouts, at: .now())
    }

    func handlerAdded(context: ChannelHandlerContext) {
        setAlarm(context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head: phase.requestHeadArrived(at: .now())
        case .body: break
        case .end: phase.requestEnded()
        }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        phase.bytesArrived(at: .now())
        setAlarm(context)
        context.fireChannelReadComplete()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(let head):
            if head.status.kind != .informational { phase.responseStarted(at: .now()) }
            context.write(data, promise: promise)
            setAlarm(context)
        case .body:
            context.write(data, promise: promise)
        case .end:
            let written = promise ?? context.eventLoop.makePromise()
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            written.futureResult.whenSuccess {
                let (handler, context) = bound.value
                handler.phase.responseEnded(at: .now())
                handler.setAlarm(context)
            }
            context.write(data, promise: written)
        }
    }

    /// Sets an alarm for the deadline. If it goes off too early, it is set again.
    private func setAlarm(_ context: ChannelHandlerContext) {
        guard let time = phase.deadline?.time, alarm.set(for: time) else { return }
        timer?.cancel()
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        timer = context.eventLoop.scheduleTask(deadline: time) {
            let (handler, context) = bound.value
            handler.alarm.rang(time)
            handler.checkDeadline(context)
        }
    }

    private func checkDeadline(_ context: ChannelHandlerContext) {
        guard let (overdue, time) = phase.deadline else { return }
        guard time <= .now() else { return setAlarm(context) }
        switch overdue {
        case .request:
            context.close(promise: nil)
        case .restOfRequest:
            logger.debug("a request did not arrive in time")
            refuse(context)
        case .restOfResponse:
            logger.debug("a client did not read its response in time")
            context.close(promise: nil)
        }
    }

    /// Answers the request that has not arrived. ``ConnectionClosing`` closes the connection after it.
    private func refuse(_ context: ChannelHandlerContext) {
        let problem = Problem(
            .requestTimeout, "The request did not arrive within \(timeouts.request.nanoseconds / 1_000_000_000) seconds.")
        guard let document = try? problem.document(requestID: GatewayContext.newRequestID()) else {
            return context.close(promise: nil)
        }
        var head = document.head
        head.headerFields[.connection] = "close"
        write(context: context, data: wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(document.body)), promise: nil)
        write(context: context, data: wrapOutboundOut(.end(nil)), promise: nil)
        context.flush()
    }
}
