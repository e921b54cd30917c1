import HTTPTypes
import Logging
import NIOCore
import NIOHTTPTypes
import Time

/// Ends a connection whose client takes too long to begin a request, to send the rest of it, or to read the response.
///
/// A deadline is for the whole request or response. A client that sends or reads single bytes gains no time. Only a response whose
/// size is unknown at its begin has a deadline for each of its pieces instead.
final class ConnectionDeadlines: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let logger: Logger
    private let timeouts: ConnectionTimeouts
    private let activity: ConnectionActivity
    private var phase: ConnectionPhase
    private var alarm = Alarm<NIODeadline>()
    /// Rings the alarm.
    private var timer: Scheduled<Void>?

    /// - Parameter activity: Is told when the connection waits for its client.
    init(_ timeouts: ConnectionTimeouts, activity: ConnectionActivity, logger: Logger) {
        self.timeouts = timeouts
        self.activity = activity
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
            guard head.status.kind != .informational else { return context.write(data, promise: promise) }
            phase.responseStarted(at: .now())
            if head.headerFields[.contentType] == ServerSentEvents.contentType {
                phase.streamStarted()
            } else if head.headerFields[.contentLength] == nil {
                phase.growthStarted()
            }
            context.write(data, promise: promise)
            setAlarm(context)
        case .body:
            guard phase.isGrowing else { return context.write(data, promise: promise) }
            write(data, context, promise) { $0.pieceSent(at: .now()) }
        case .end:
            write(data, context, promise) { $0.responseEnded(at: .now()) }
        }
    }

    /// Writes a part of a response.
    ///
    /// - Parameter change: The change of the phase when the part was sent.
    private func write(
        _ data: NIOAny, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?,
        whenSent change: @escaping (inout ConnectionPhase) -> Void
    ) {
        phase.pieceWritten(at: .now())
        setAlarm(context)
        let written = promise ?? context.eventLoop.makePromise()
        let bound = NIOLoopBound((self, context, change), eventLoop: context.eventLoop)
        written.futureResult.whenSuccess {
            let (handler, context, change) = bound.value
            change(&handler.phase)
            handler.setAlarm(context)
        }
        context.write(data, promise: written)
    }

    /// Sets an alarm for the deadline after something has happened. If it goes off too early, it is set again.
    private func setAlarm(_ context: ChannelHandlerContext) {
        activity.waits(since: phase.waitsSince)
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
        problem.send { write(context: context, data: wrapOutboundOut($0), promise: nil) }
        context.flush()
    }
}
