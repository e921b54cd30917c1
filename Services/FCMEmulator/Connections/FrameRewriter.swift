import NIOCore
import NIOHPACK
import NIOHTTP2

/// Writes those frames of an HTTP/2 connection that SwiftNIO would write differently. It sits between SwiftNIO's
/// HTTP/2 handler and TLS.
///
/// - The limit of concurrent streams in the SETTINGS: SwiftNIO enforces its own limit by ending the connection. It does not give
///   FCM's reason, and it cannot refuse a single stream. So SwiftNIO gets no limit, and the emulator counts.
/// - GOAWAY: once SwiftNIO has sent one and no stream is open, it treats every later frame as a protocol violation, even a
///   WINDOW_UPDATE that was in flight.
final class FrameRewriter: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// A user event that writes a GOAWAY.
    struct GoAwayFrame: Sendable {
        let lastStream: Int32
        let reason: GoAway.Reason
    }

    private static let frameHeader = 9
    private static let settings: UInt8 = 0x4
    private static let settingsEntry = 6
    private static let maxConcurrentStreams: UInt16 = 0x3
    private static let goAway: UInt8 = 0x7

    private let streams: UInt32
    private var hasOpened = false

    init(streams: Int) {
        self.streams = UInt32(streams)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !hasOpened else { return context.write(data, promise: promise) }
        hasOpened = true
        var buffer = unwrapOutboundIn(data)
        changeSettings(&buffer)
        context.write(wrapOutboundOut(buffer), promise: promise)
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard let frame = event as? GoAwayFrame else { return context.triggerUserOutboundEvent(event, promise: promise) }
        let text = frame.reason.text.utf8
        let length = UInt32(8 + text.count)
        var buffer = context.channel.allocator.buffer(capacity: Self.frameHeader + Int(length))
        buffer.writeInteger(length << 8 | UInt32(Self.goAway))
        buffer.writeInteger(UInt8(0))
        buffer.writeInteger(UInt32(0))
        buffer.writeInteger(frame.lastStream)
        buffer.writeInteger(UInt32(frame.reason.code.networkCode))
        buffer.writeBytes(text)
        context.writeAndFlush(wrapOutboundOut(buffer), promise: promise)
    }

    /// The first frame that a server sends is its SETTINGS.
    private func changeSettings(_ buffer: inout ByteBuffer) {
        let start = buffer.readerIndex
        guard let lengthAndType = buffer.getInteger(at: start, as: UInt32.self), lengthAndType & 0xFF == Self.settings else {
            return
        }
        let first = start + Self.frameHeader
        for index in stride(from: first, to: first + Int(lengthAndType >> 8), by: Self.settingsEntry)
        where buffer.getInteger(at: index, as: UInt16.self) == Self.maxConcurrentStreams {
            buffer.setInteger(streams, at: index + 2)
        }
    }
}

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
