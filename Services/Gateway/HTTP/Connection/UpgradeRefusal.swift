import NIOCore
import NIOHTTP1

/// Ignores requests to switch to another protocol (RFC 9110, 7.8), such as `Upgrade: h2c`.
///
/// NIO's decoder stops after such a request, and after `CONNECT`, because the next bytes may be in another protocol. The gateway
/// never switches, so the next bytes are the next request. A new decoder reads them.
final class UpgradeRefusal: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    typealias Decoder = ByteToMessageHandler<HTTPRequestDecoder>

    /// The decoder before this handler. A replaced one may also exist for a moment.
    private var decoder: Decoder
    private var decoderHasStopped = false

    init(behind decoder: Decoder) {
        self.decoder = decoder
    }

    /// The maximum size of the names and values of a request's header fields.
    static let maxHeadBytes = 32 * 1_024
    /// The maximum number of a request's header fields.
    static let maxHeaderFields = 200

    /// A decoder with limits for a request's head. When it is removed, it passes on its unread bytes.
    static func makeDecoder() -> Decoder {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = maxHeadBytes
        limits.maxHeaderListSize = maxHeadBytes
        limits.maxHeaderFieldCount = maxHeaderFields
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
            // The unread bytes are passed on after the current read has completed, so the completion is fired again.
            pipeline.removeHandler(context: stopped).assumeIsolated().whenSuccess { context.fireChannelReadComplete() }
        } catch {
            context.fireErrorCaught(error)
        }
    }

    /// Whether NIO's decoder stops after this request, by the same rules.
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
