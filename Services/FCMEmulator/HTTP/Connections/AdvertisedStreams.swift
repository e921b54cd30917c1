import NIOCore

/// Writes the real limit of concurrent streams into the SETTINGS that open an HTTP/2 connection.
///
/// SwiftNIO ends a connection by itself when a client exceeds what its SETTINGS say, and neither tells why as FCM does nor can
/// refuse the stream instead. So it is told of no limit, and the emulator counts.
final class AdvertisedStreams: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let frameHeader = 9
    private static let entry = 6
    private static let settings: UInt8 = 0x4
    private static let maxConcurrentStreams: UInt16 = 0x3

    private let limit: UInt32
    private var isDone = false

    init(limit: Int) {
        self.limit = UInt32(limit)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !isDone else { return context.write(data, promise: promise) }
        isDone = true
        var buffer = unwrapOutboundIn(data)
        change(&buffer)
        context.write(wrapOutboundOut(buffer), promise: promise)
    }

    /// The first frame that a server sends is its SETTINGS.
    private func change(_ buffer: inout ByteBuffer) {
        let start = buffer.readerIndex
        guard buffer.getInteger(at: start + 3, as: UInt8.self) == Self.settings,
            let high = buffer.getInteger(at: start, as: UInt8.self),
            let low = buffer.getInteger(at: start + 1, as: UInt16.self)
        else { return }
        let first = start + Self.frameHeader
        for index in stride(from: first, to: first + (Int(high) << 16 | Int(low)), by: Self.entry)
        where buffer.getInteger(at: index, as: UInt16.self) == Self.maxConcurrentStreams {
            buffer.setInteger(limit, at: index + 2)
        }
    }
}
