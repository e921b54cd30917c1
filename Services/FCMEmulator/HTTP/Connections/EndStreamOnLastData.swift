import NIOCore
import NIOHPACK
import NIOHTTP2

/// Sets END_STREAM on the last DATA frame of an answer whose length is known, instead of sending an empty frame.
///
/// Debian 12's libcurl has the whole answer before that empty frame, and resets the stream. SwiftNIO closes a connection with 200
/// resets in 30 s, and its GOAWAY says that no request was processed. A busy relay would then send accepted messages again. FCM's
/// own servers never cause that.
final class EndStreamOnLastData: ChannelOutboundHandler {
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
