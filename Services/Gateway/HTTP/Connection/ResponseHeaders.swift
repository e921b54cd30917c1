import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Gives every response the header fields that all have, also those that Hummingbird makes by itself.
final class ResponseHeaders: ChannelOutboundHandler, RemovableChannelHandler {
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .head(var head) = unwrapOutboundIn(data) else { return context.write(data, promise: promise) }
        // A browser must not take JSON for a script or a page, whatever text is in it.
        head.headerFields[.xContentTypeOptions] = "nosniff"
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }
}
