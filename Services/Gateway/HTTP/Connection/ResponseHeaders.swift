import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Adds the common header fields to every response, including those that Hummingbird makes itself.
final class ResponseHeaders: ChannelOutboundHandler, RemovableChannelHandler {
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let security: SecurityHeaders

    init(_ security: SecurityHeaders) {
        self.security = security
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .head(var head) = unwrapOutboundIn(data), head.status.kind != .informational else {
            return context.write(data, promise: promise)
        }
        security.add(to: &head.headerFields, status: head.status)
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }
}
