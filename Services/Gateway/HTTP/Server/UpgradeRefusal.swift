import NIOCore
import NIOHTTP1

/// Ignores requests to switch to another protocol (RFC 9110, 7.8), such as `Upgrade: h2c`.
///
/// NIO's decoder stops after such a request, and after `CONNECT`, because the next bytes may be in another protocol. The gateway
/// never switches, so the next bytes are the next request. A new decoder reads them.
struct UpgradeRefusal {
    typealias Decoder = ByteToMessageHandler<HTTPRequestDecoder>

    /// The present decoder. The decoder that it replaces may still exist for a moment.
    private var decoder: Decoder
    private var decoderHasStopped = false

    init(_ decoder: Decoder) {
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

    mutating func requestBegan(_ head: HTTPRequestHead) {
        decoderHasStopped = Self.stopsDecoder(head)
    }

    /// The decoder to replace after the end of a request that has stopped it, and its successor; `nil` if it has not stopped.
    mutating func replacement() -> (stopped: Decoder, new: Decoder)? {
        guard decoderHasStopped else { return nil }
        decoderHasStopped = false
        let stopped = decoder
        decoder = Self.makeDecoder()
        return (stopped, decoder)
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
