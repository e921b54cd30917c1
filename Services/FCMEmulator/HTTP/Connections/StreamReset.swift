import NIOCore
import NIOHTTP2

/// Resets its stream with an error code on a ``Request``. Closing the stream's channel would always send CANCEL.
final class StreamReset: ChannelOutboundHandler {
    typealias OutboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    /// A user event that resets the stream.
    struct Request: Sendable {
        let code: HTTP2ErrorCode
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard let request = event as? Request else { return context.triggerUserOutboundEvent(event, promise: promise) }
        context.writeAndFlush(wrapOutboundOut(.rstStream(request.code)), promise: promise)
    }
}
