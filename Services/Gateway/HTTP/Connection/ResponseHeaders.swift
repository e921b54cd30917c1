import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Adds the header fields that every response has, including responses that Hummingbird makes by itself.
final class ResponseHeaders: ChannelOutboundHandler, RemovableChannelHandler {
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .head(var head) = unwrapOutboundIn(data) else { return context.write(data, promise: promise) }
        // A browser must not interpret JSON as a script or a page.
        head.headerFields[.xContentTypeOptions] = "nosniff"
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }
}
