package import HummingbirdCore
package import Logging
package import NIOCore
package import NIOHTTP1
import NIOHTTPTypesHTTP1

/// Gives answers their ``AnswerFrame``. NIO and Hummingbird ignore the version of HTTP/1.0 clients, which get no informational answers
/// either. It stands between NIO's HTTP/1 handlers and its codec for `HTTPTypes`.
package final class AnswerFraming: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPServerRequestPart
    package typealias InboundOut = HTTPServerRequestPart
    package typealias OutboundIn = HTTPServerResponsePart
    package typealias OutboundOut = HTTPServerResponsePart

    /// The requests that have begun and whose answers are not complete.
    private var unanswered: [FramedRequest] = []
    /// Whether the connection must close after the answer, which the later handlers do not know.
    private var closesAfterAnswer = false

    package init() {}

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
        unanswered.append(FramedRequest(of: &head, at: context.localAddress))
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head):
            let request = unanswered.first ?? .unknown
            if head.status.code < 200 {
                guard request.isOld else { return context.write(data, promise: promise) }
                promise?.succeed()
                return
            }
            frame(&head, for: request)
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body:
            guard unanswered.first?.isHead != true else {
                promise?.succeed()
                return
            }
            context.write(data, promise: promise)
        case .end:
            if !unanswered.isEmpty { unanswered.removeFirst() }
            guard closesAfterAnswer else { return context.write(data, promise: promise) }
            closesAfterAnswer = false
            let written = promise ?? context.eventLoop.makePromise()
            let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
            written.futureResult.whenSuccess { bound.value.close(mode: .output, promise: nil) }
            context.writeAndFlush(data, promise: written)
        }
    }

    private func frame(_ head: inout HTTPResponseHead, for request: FramedRequest) {
        let frame = AnswerFrame(
            to: request, mayHaveBody: head.status.mayHaveResponseBody,
            hasLength: head.headers.contains(name: "Content-Length"), isLast: !head.isKeepAlive)
        if !frame.keepsLength { head.headers.remove(name: "Content-Length") }
        if frame.isChunked {
            head.headers.replaceOrAdd(name: "Transfer-Encoding", value: "chunked")
        } else {
            head.headers.remove(name: "Transfer-Encoding")
        }
        if let connection = frame.connection { head.headers.replaceOrAdd(name: "Connection", value: "\(connection)") }
        closesAfterAnswer = frame.endsConnection
        // NIO's encoder makes chunks for any later version.
        if request.isOld { head.version = .http1_0 }
    }
}

/// Hummingbird's channel for HTTP/1 with the ``AnswerFraming``, for servers without other handlers.
package struct HTTP1Connections: ServerChildChannel {
    private let base: HTTP1Channel

    /// - Parameter responder: Answers the requests that ``ServerRequests`` does not.
    package init(responder: @escaping ServerRequests.Responder) {
        base = HTTP1Channel(responder: ServerRequests.responder(responder))
    }

    package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        base.setup(channel: channel, logger: logger).flatMapThrowing { value in
            let pipeline = channel.pipeline.syncOperations
            let codec = try pipeline.handler(type: HTTP1ToHTTPServerCodec.self)
            try pipeline.addHandler(AnswerFraming(), position: .before(codec))
            return value
        }
    }

    package func handle(value: HTTP1Channel.Value, logger: Logger) async {
        await base.handle(value: value, logger: logger)
    }
}

extension HTTPServerBuilder {
    /// A server for clients of HTTP/1.0 and HTTP/1.1.
    package static var http1Connections: HTTPServerBuilder { HTTPServerBuilder { HTTP1Connections(responder: $0) } }
}
