import Hummingbird
import NIOCore
import NIOHTTPTypes

extension ResponseBody {
    private static var pieceSize: Int { 256 * 1_024 }

    /// A body that is written piece by piece, each after the previous one was sent. So a slow client's connection holds little memory
    /// in addition to `bytes`, which other responses may share: the encrypted form of one piece, with TLS.
    ///
    /// Hummingbird's writer does not wait for that: it accepts pieces until the event loop has noticed the backlog.
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
