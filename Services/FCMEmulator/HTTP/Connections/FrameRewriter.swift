import NIOCore
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
