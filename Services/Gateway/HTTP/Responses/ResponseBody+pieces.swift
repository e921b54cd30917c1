import FoundationEssentials
import Hummingbird
import NIOCore
import NIOHTTPTypes

extension ResponseBody {
    private static var pieceSize: Int { 64 * 1_024 }

    /// A body that is written piece by piece, each after the previous one was sent. So a slow client's connection holds only one
    /// piece in addition to `bytes`, which other responses may share.
    ///
    /// Hummingbird's writer does not wait for that: it accepts pieces until the event loop has noticed the backlog.
    ///
    /// - Parameter channel: The request's connection.
    static func pieces(of bytes: Data, on channel: any NIOCore.Channel) -> ResponseBody {
        guard bytes.count > pieceSize else { return ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)) }
        return ResponseBody(contentLength: bytes.count) { writer in
            var rest = bytes
            while !rest.isEmpty {
                let piece = ByteBuffer(bytes: rest.prefix(pieceSize))
                rest = rest.dropFirst(pieceSize)
                try await channel.writeAndFlush(HTTPResponsePart.body(piece))
            }
            try await writer.finish(nil)
        }
    }
}
