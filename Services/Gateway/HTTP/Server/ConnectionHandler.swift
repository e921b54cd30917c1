import HTTPRouting
import HTTPTypes
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// HTTP/1 on a connection to the gateway, between NIO's decoder and Hummingbird: framing, deadlines, the end of the connection, and
/// requests that cannot be read.
///
/// It is one handler, because each handler costs every part of a request and of an answer a dynamic cast and a box. It also writes the
/// bytes of answers itself (``AnswerEncoder``).
final class ConnectionHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = IOData

    private let isSecure: Bool
    private let logger: Logger
    private var encoder: AnswerEncoder
    private var upgrades: UpgradeRefusal
    private var closing: ConnectionClosing
    private var deadlines: ConnectionDeadlines
    /// Rings the alarm of the deadlines.
    private var timer: Scheduled<Void>?
    /// Whether the deadline may have changed since the alarm was set.
    private var isAlarmDue = false
    /// The requests that have begun and whose answers are not complete, for the framing.
    private var framed: [FramedRequest] = []
    /// The beginning of an answer that is not written yet: its body is written with it.
    private var held: ByteBuffer?

    /// A body is copied behind its head up to this size, so that the socket gets one piece.
    private static let maxCopied = 8 * 1_024

    /// - Parameters:
    ///   - decoder: NIO's decoder before this handler.
    ///   - isSecure: Whether the connection has TLS.
    ///   - activity: Is told when the connection waits for its client.
    init(
        behind decoder: UpgradeRefusal.Decoder, isSecure: Bool, _ security: SecurityHeaders, _ timeouts: ConnectionTimeouts,
        activity: ConnectionActivity, logger: Logger
    ) {
        self.isSecure = isSecure
        self.logger = logger
        encoder = AnswerEncoder(security)
        upgrades = UpgradeRefusal(decoder)
        closing = ConnectionClosing(timeouts)
        deadlines = ConnectionDeadlines(timeouts, activity: activity, at: .now())
    }

    func handlerAdded(context: ChannelHandlerContext) {
        setAlarm(context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
    }
}

// MARK: - Requests

extension ConnectionHandler {
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): read(head, context)
        case .body(let bytes):
            guard closing.accepts(bytes) else { return }
            context.fireChannelRead(wrapInboundOut(.body(bytes)))
        case .end(let trailers):
            if closing.requestEnded() {
                deadlines.requestEnded()
                context.fireChannelRead(wrapInboundOut(.end(trailers.map { HTTPFields($0, splitCookie: false) })))
            }
            replaceDecoderIfStopped(context)
        }
    }

    private func read(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        var head = head
        upgrades.requestBegan(head)
        guard closing.accepts(head) else { return }
        let framed = FramedRequest(of: &head, at: context.localAddress)
        self.framed.append(framed)
        let request: HTTPRequest
        do {
            request = try HTTPRequest(of: head, isSecure: isSecure)
        } catch {
            return errorCaught(context: context, error: error)
        }
        closing.requestBegan(isLast: !framed.keepsConnection)
        deadlines.requestHeadArrived(at: .now())
        context.fireChannelRead(wrapInboundOut(.head(request)))
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        deadlines.bytesArrived(at: .now())
        setAlarm(context)
        context.fireChannelReadComplete()
        // Reads even if the next handler does not, in order to notice that the client closes.
        if closing.isClosing { read(context: context) }
    }

    func read(context: ChannelHandlerContext) {
        if closing.mayRead { context.read() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let unreadable = error as? HTTPParserError else { return context.fireErrorCaught(error) }
        switch closing.unreadable {
        case .answered: refuse(Problem(unreadable), context)
        case .reported: context.fireErrorCaught(error)
        // The decoder reports an error for the bytes behind an unreadable request as well.
        case .dropped: break
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent {
            closing.stop()
            closeSoon(context)
            return
        }
        context.fireUserInboundEventTriggered(event)
        if closing.isClosing, case .inputClosed = event as? ChannelEvent { context.close(promise: nil) }
    }

    private func replaceDecoderIfStopped(_ context: ChannelHandlerContext) {
        guard let (stopped, new) = upgrades.replacement() else { return }
        do {
            let pipeline = context.pipeline.syncOperations
            let old = try pipeline.context(handler: stopped)
            try pipeline.addHandler(new, position: .before(self))
            // The unread bytes are passed on after the current read has completed, so the completion is fired again.
            pipeline.removeHandler(context: old).assumeIsolated().whenSuccess { self.channelReadComplete(context: context) }
        } catch {
            errorCaught(context: context, error: error)
        }
    }
}

extension HTTPRequest {
    /// - Throws: `HTTP1TypeConversionError` for an invalid method.
    fileprivate init(of head: HTTPRequestHead, isSecure: Bool) throws {
        // The conversion parses each URL, in order to find the path in one with a scheme. A path has none.
        guard head.uri.utf8.first == UInt8(ascii: "/") else {
            try self.init(head, secure: isSecure, splitCookie: false)
            return
        }
        self.init(
            method: try Method(head.method), scheme: isSecure ? "https" : "http", authority: head.headers.first(name: "Host"),
            path: head.uri, headerFields: HTTPFields(head.headers, splitCookie: false))
    }
}

// MARK: - Answers

extension ConnectionHandler {
    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        write(unwrapOutboundIn(data), context, promise)
    }

    func flush(context: ChannelHandlerContext) {
        writeHeld(context)
        context.flush()
        if isAlarmDue { setAlarm(context) }
    }

    private func write(_ part: HTTPResponsePart, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
        switch part {
        case .head(let head): write(head, context, promise)
        case .body(let bytes):
            guard deadlines.isGrowing else { return write(bytes, context, promise) }
            deadlines.pieceWritten(at: .now())
            isAlarmDue = true
            let sent = promise ?? context.eventLoop.makePromise()
            sent.futureResult.assumeIsolated().whenSuccess {
                self.deadlines.pieceSent(at: .now())
                self.setAlarm(context)
            }
            write(bytes, context, sent)
        case .end(let trailers): end(trailers, context, promise)
        }
    }

    private func write(_ head: HTTPResponse, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
        let request = framed.first ?? .unknown
        var bytes = context.channel.allocator.buffer(capacity: 1_024)
        guard head.status.kind != .informational else {
            guard !request.isOld else {
                promise?.succeed()
                return
            }
            encoder.informational(head, into: &bytes)
            return context.write(wrapOutboundOut(.byteBuffer(bytes)), promise: promise)
        }
        deadlines.answerStarted(head, at: .now())
        isAlarmDue = true
        encoder.head(head, to: request, isLast: closing.answerStarted(head), into: &bytes)
        held = bytes
        if let promise { writeHeld(context, promise) }
    }

    private func write(_ bytes: ByteBuffer, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
        // An answer to HEAD has no body.
        guard framed.first?.isHead != true else {
            promise?.succeed()
            return
        }
        guard encoder.frame?.isChunked == true, bytes.readableBytes > 0 else {
            guard promise == nil, held != nil, bytes.readableBytes <= Self.maxCopied else {
                writeHeld(context)
                return context.write(wrapOutboundOut(.byteBuffer(bytes)), promise: promise)
            }
            held?.writeImmutableBuffer(bytes)
            return
        }
        var chunk = takeHeld() ?? context.channel.allocator.buffer(capacity: 16 + min(bytes.readableBytes, Self.maxCopied))
        encoder.chunk(of: bytes.readableBytes, into: &chunk)
        guard bytes.readableBytes > Self.maxCopied else {
            chunk.writeImmutableBuffer(bytes)
            chunk.writeStaticString("\r\n")
            return context.write(wrapOutboundOut(.byteBuffer(chunk)), promise: promise)
        }
        context.write(wrapOutboundOut(.byteBuffer(chunk)), promise: nil)
        context.write(wrapOutboundOut(.byteBuffer(bytes)), promise: nil)
        context.write(wrapOutboundOut(.byteBuffer(ByteBuffer(string: "\r\n"))), promise: promise)
    }

    private func end(_ trailers: HTTPFields?, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
        deadlines.pieceWritten(at: .now())
        isAlarmDue = true
        var bytes = takeHeld() ?? ByteBuffer()
        if encoder.frame?.isChunked == true { encoder.end(trailers, into: &bytes) }
        let endsConnection = encoder.frame?.endsConnection == true
        encoder.answerEnded()
        if !framed.isEmpty { framed.removeFirst() }
        let end = closing.answerEnded()
        if end == .closesIfIdle { closeSoon(context) }
        let sent = promise ?? context.eventLoop.makePromise()
        sent.futureResult.assumeIsolated().whenSuccess {
            self.deadlines.responseEnded(at: .now())
            self.setAlarm(context)
            if end == .closes { self.close(context) }
            if endsConnection { context.close(mode: .output, promise: nil) }
        }
        // Without bytes, the promise waits for those before it.
        context.write(wrapOutboundOut(.byteBuffer(bytes)), promise: sent)
        if end == .closes || endsConnection { context.flush() }
    }

    private func takeHeld() -> ByteBuffer? {
        defer { held = nil }
        return held
    }

    private func writeHeld(_ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>? = nil) {
        guard let bytes = takeHeld() else { return }
        context.write(wrapOutboundOut(.byteBuffer(bytes)), promise: promise)
    }

    /// Answers a request that cannot be read or has not arrived. The connection is closed after it.
    private func refuse(_ problem: Problem, _ context: ChannelHandlerContext) {
        problem.send { write($0, context, nil) }
        flush(context: context)
    }
}

// MARK: - Times

extension ConnectionHandler {
    /// Sets the alarm for the present deadline. An alarm that rings before the deadline is set again.
    private func setAlarm(_ context: ChannelHandlerContext) {
        isAlarmDue = false
        guard let time = deadlines.nextAlarm() else { return }
        timer?.cancel()
        timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: time) {
            self.deadlines.alarmRang(for: time)
            self.checkDeadline(context)
        }
    }

    private func checkDeadline(_ context: ChannelHandlerContext) {
        switch deadlines.overdue(at: .now()) {
        case nil:
            setAlarm(context)
        case .request:
            context.close(promise: nil)
        case .restOfRequest(let problem):
            logger.debug("a request did not arrive in time")
            refuse(problem, context)
        case .restOfResponse:
            logger.debug("a client did not read its response in time")
            context.close(promise: nil)
        }
    }

    /// Closes the connection after a moment, unless a request comes: its response closes the connection.
    private func closeSoon(_ context: ChannelHandlerContext) {
        context.eventLoop.assumeIsolated().scheduleTask(in: closing.stopGrace) {
            if context.channel.isActive, self.closing.closeIfIdle() { self.close(context) }
        }
    }

    private func close(_ context: ChannelHandlerContext) {
        context.close(mode: .output, promise: nil)
        context.read()
        let channel = context.channel
        context.eventLoop.scheduleTask(in: closing.timeout) { channel.close(promise: nil) }
    }
}
