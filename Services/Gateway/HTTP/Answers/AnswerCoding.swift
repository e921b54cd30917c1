import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTPTypes

/// Whether a JSON answer is sent compressed, and what that changes in its header.
///
/// Only answers to GET are compressed. Others may have a secret, such as a new token or recovery codes, beside a text of the
/// request. An attacker who sees the sizes of such answers and chooses the texts can guess the secret (BREACH). No answer to GET
/// has a credential but the list of a class's keys, which is sent as it is. The answers that thousands of phones fetch by POST differ
/// by their subjects, so each would have to be compressed separately.
struct AnswerCoding: Sendable {
    /// Smaller answers fit into a packet or two as they are.
    static let minSize = 1_024

    private let isAllowed: Bool
    private let acceptedEncodings: String?
    private let ifNoneMatch: String?

    init(for request: Request, isAllowed: Bool) {
        self.isAllowed = isAllowed
        acceptedEncodings = request.headers.value(of: .acceptEncoding)
        ifNoneMatch = request.headers.value(of: .ifNoneMatch)
    }

    /// The bytes to send for a document.
    ///
    /// - Parameters:
    ///   - compressed: Compresses the document; `nil` if it would not be smaller.
    ///   - headers: Get the coding. A compressed document gets a different entity tag, with a suffix (RFC 9110, section 8.8.3.3).
    func bytes(
        of plain: ByteBuffer, compressed: () async -> ByteBuffer?, _ headers: inout HTTPFields
    ) async -> ByteBuffer {
        guard isAllowed, plain.readableBytes >= Self.minSize else { return plain }
        headers.varyByEncoding()
        guard let acceptedEncodings, AcceptedEncodings.acceptGzip(acceptedEncodings), let bytes = await compressed() else {
            return plain
        }
        headers[.contentEncoding] = "gzip"
        if let tag = headers[.eTag] { headers[.eTag] = Self.compressedTag(of: tag) }
        return bytes
    }

    /// Changes the header of a 304 for a client that has the compressed document.
    func changeUnchanged(_ headers: inout HTTPFields) {
        // If `Vary` names the encoding already, the answer has chosen its own form.
        guard isAllowed, headers.contains(.eTag), headers.value(of: .vary)?.hasBytes(of: "Accept-Encoding") != true else {
            return
        }
        headers.varyByEncoding()
        guard let ifNoneMatch, ifNoneMatch.hasBytes(of: Self.compressedEnd), let tag = headers.value(of: .eTag) else { return }
        let compressed = Self.compressedTag(of: tag)
        if ifNoneMatch.contains(compressed) { headers[.eTag] = compressed }
    }

    /// As ``EntityTag/withoutCoding`` reads it.
    private static func compressedTag(of tag: String) -> String { "\(tag.dropLast())\(compressedEnd)" }

    private static let compressedEnd: StaticString = "-gzip\""
}

extension HTTPFields {
    /// Says that the answer depends on the codings that the client accepts.
    fileprivate mutating func varyByEncoding() {
        let name = HTTPField.Name.acceptEncoding.rawName
        self[.vary] = value(of: .vary).map { "\($0), \(name)" } ?? name
    }
}

extension Request {
    /// Whether the client accepts a compressed answer.
    var acceptsGzip: Bool { headers.value(of: .acceptEncoding).map(AcceptedEncodings.acceptGzip) ?? false }
}

extension Response {
    /// JSON of any size, sent as fast as the client reads it.
    ///
    /// - Parameters:
    ///   - compressed: Compresses it.
    ///   - channel: The request's connection.
    static func json(
        _ plain: ByteBuffer, status: HTTPResponse.Status, headers: HTTPFields, _ coding: AnswerCoding,
        compressed: () async -> ByteBuffer?, on channel: any NIOCore.Channel
    ) async -> Response {
        var headers = headers
        headers[.contentType] = "application/json"
        let bytes = await coding.bytes(of: plain, compressed: compressed, &headers)
        return Response(status: status, headers: headers, body: .pieces(of: bytes, on: channel))
    }
}

extension ResponseBody {
    private static var pieceSize: Int { 256 * 1_024 }

    /// A body that is written piece by piece, each after the previous one was sent. In addition to `bytes`, which other responses
    /// may share, a slow client's connection then holds little memory: with TLS, one encrypted piece.
    ///
    /// Hummingbird's writer does not wait: it accepts pieces until the event loop notices the backlog.
    ///
    /// - Parameter channel: The request's connection.
    static func pieces(of bytes: ByteBuffer, on channel: any NIOCore.Channel) -> ResponseBody {
        guard bytes.readableBytes > pieceSize else { return ResponseBody(byteBuffer: bytes) }
        return ResponseBody(contentLength: bytes.readableBytes) { writer in
            var rest = bytes
            while let piece = rest.readSlice(length: min(pieceSize, rest.readableBytes)), piece.readableBytes > 0 {
                try await channel.writeAndFlush(HTTPResponsePart.body(piece))
            }
            try await writer.finish(nil)
        }
    }
}
