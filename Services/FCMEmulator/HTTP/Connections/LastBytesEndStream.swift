import NIOCore
import NIOHPACK
import NIOHTTP2

/// Ends an HTTP/2 stream with the last bytes of an answer whose length is known, and not with an empty frame of its own.
///
/// A libcurl of Debian 12 has its answer by then, and resets the stream that has not ended yet; SwiftNIO closes a connection
/// that resets 200 streams in 30 s, and says that it has done none of the requests on it. So a busy relay would send again
/// what had been accepted, which FCM's own servers never make it do.
final class LastBytesEndStream: ChannelOutboundHandler {
    typealias OutboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    private struct Held {
        var data: HTTP2Frame.FramePayload.Data
        let promise: EventLoopPromise<Void>?
    }

    private var isLengthKnown = false
    private var held: Held?

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .headers(let frame):
            isLengthKnown = frame.headers.contains(name: "content-length")
        case .data(let frame) where isLengthKnown:
            if frame.endStream, frame.data.readableBytes == 0, var last = held {
                held = nil
                last.data.endStream = true
                promise?.futureResult.cascade(to: last.promise)
                context.write(wrapOutboundOut(.data(last.data)), promise: promise ?? last.promise)
                return
            }
            writeHeld(context)
            if !frame.endStream {
                held = Held(data: frame, promise: promise)
                return
            }
        default:
            writeHeld(context)
        }
        context.write(data, promise: promise)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        held?.promise?.fail(ChannelError.ioOnClosedChannel)
        held = nil
    }

    private func writeHeld(_ context: ChannelHandlerContext) {
        guard let frame = held else { return }
        held = nil
        context.write(wrapOutboundOut(.data(frame.data)), promise: frame.promise)
    }
}
