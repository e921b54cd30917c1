import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Adds the common header fields to every response, including those that Hummingbird makes itself.
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
