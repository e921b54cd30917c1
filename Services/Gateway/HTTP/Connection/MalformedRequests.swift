import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// Answers a request whose head cannot be read with a problem document. ``ConnectionClosing`` closes the connection after it.
///
/// An error in a body reaches the route that reads it. While an earlier request is unanswered, its answer goes first, and the
/// connection is closed after it.
final class MalformedRequests: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// Requests that have begun and whose responses have not ended.
    private var unanswered = 0
    private var hasRefused = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head = unwrapInboundIn(data) { unanswered += 1 }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) { unanswered -= 1 }
        context.write(data, promise: promise)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The bytes after the error are errors as well.
        guard !hasRefused else { return }
        guard let error = error as? HTTPParserError, unanswered == 0 else { return context.fireErrorCaught(error) }
        hasRefused = true
        Self.problem(for: error).send { context.write(wrapOutboundOut($0), promise: nil) }
        context.flush()
    }

    private static func problem(for error: HTTPParserError) -> Problem {
        error == .headerOverflow
            ? Problem(
                .headersTooLarge,
                "A request line and its header fields may have \(UpgradeRefusal.maxHeadBytes) bytes, and there may be "
                    + "\(UpgradeRefusal.maxHeaderFields) fields.")
            : Problem(.malformedRequest, "The request line or a header field cannot be read.")
    }
}

extension Problem {
    /// Passes on the parts of a response that ends its connection, to a request that never became one.
    func send(_ write: (HTTPResponsePart) -> Void) {
        var problem = self
        problem.headers[.connection] = "close"
        guard let document = try? problem.document(requestID: GatewayContext.newRequestID()) else { return }
        write(.head(document.head))
        write(.body(document.body))
        write(.end(nil))
    }
}
