import NIOCore
import NIOHTTP1

/// Ignores offers to go on in another protocol (RFC 9110, 7.8), such as `Upgrade: h2c`.
///
/// NIO's decoder stops after such a request, and after `CONNECT`, because what follows may be another protocol. The gateway
/// never agrees to one, so what follows is the next request: a new decoder takes over.
final class UpgradeRefusal: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    typealias Decoder = ByteToMessageHandler<HTTPRequestDecoder>

    /// The decoder in front of this handler. One that has been replaced may be there, too, for a moment.
    private var decoder: Decoder
    private var decoderHasStopped = false

    init(behind decoder: Decoder) {
        self.decoder = decoder
    }

    /// A decoder with the limits that Hummingbird has for a request's head. It hands on what it has not read when it is removed.
    static func makeDecoder() -> Decoder {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderListSize = 80 * 1_024
        limits.maxHeaderFieldCount = 1_000
        return ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .forwardBytes, limitConfiguration: limits))
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        if case .head(let head) = part { decoderHasStopped = Self.stopsDecoder(head) }
        context.fireChannelRead(data)
        guard case .end = part, decoderHasStopped else { return }
        decoderHasStopped = false
        do {
            let pipeline = context.pipeline.syncOperations
            let stopped = try pipeline.context(handler: decoder)
            decoder = Self.makeDecoder()
            try pipeline.addHandler(decoder, position: .before(self))
            // What it has not read is handed on later than the read that it came with, which is over by then.
            pipeline.removeHandler(context: stopped).assumeIsolated().whenSuccess { context.fireChannelReadComplete() }
        } catch {
            context.fireErrorCaught(error)
        }
    }

    /// Whether NIO's decoder reads nothing after this request, by the same rules.
    private static func stopsDecoder(_ head: HTTPRequestHead) -> Bool {
        if head.method == .CONNECT { return true }
        guard head.headers.contains(name: "Upgrade") else { return false }
        return head.headers["Connection"].contains { value in
            value.split(separator: ",").contains { token in
                let token = token.drop { $0 == " " || $0 == "\t" }
                return token.prefix(7).lowercased() == "upgrade" && token.dropFirst(7).allSatisfy { $0 == " " }
            }
        }
    }
}
