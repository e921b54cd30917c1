import Base
import Bus
import FoundationEssentials
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTPTypes
import Schemas

/// A part of a CSV file.
struct CSVPart<Cursor: Sendable>: Sendable {
    let lines: [CSVLine]
    /// Where the next part begins; `nil` after the last one.
    let next: Cursor?
}

extension Answer {
    /// A CSV file. Its parts are read while it is sent, each after the previous one was sent, so that a file of any size needs
    /// little memory. If reading a later part fails, the connection is broken off, so that the client notices that the file is
    /// incomplete.
    ///
    /// - Parameters:
    ///   - name: The file's name.
    ///   - request: Its client may accept a compressed file.
    ///   - channel: The request's connection.
    ///   - first: The first part.
    ///   - part: Reads a further part. It throws if the caller has lost the right.
    static func csv<Cursor: Sendable>(
        _ name: String, header: CSVLine, for request: Request, on channel: any NIOCore.Channel, first: CSVPart<Cursor>,
        then part: @escaping @Sendable (Cursor) async throws -> CSVPart<Cursor>
    ) -> Answer {
        let isCompressed = request.acceptsGzip
        let body = ResponseBody { writer in
            let gzip = isCompressed ? GzipStream() : nil
            var lines = [header] + first.lines
            var next = first.next
            while true {
                // Not on the connection's thread: a part is large.
                var bytes = await onSharedThreads {
                    let text = ByteBuffer(string: lines.map(\.text).joined())
                    return gzip?.compress(text, isLast: next == nil) ?? text
                }
                while let piece = bytes.readSlice(length: min(bytes.readableBytes, maxPieceOfCSV)), piece.readableBytes > 0 {
                    try await channel.writeAndFlush(HTTPResponsePart.body(piece))
                }
                guard let cursor = next else { break }
                let read = try await part(cursor)
                (lines, next) = (read.lines, read.next)
            }
            try await writer.finish(nil)
        }
        var headers: HTTPFields = [
            .contentType: "text/csv; charset=utf-8; header=present", .vary: "Accept, Accept-Encoding",
            .contentDisposition: "attachment; filename=\"\(name)\"",
        ]
        if isCompressed { headers[.contentEncoding] = "gzip" }
        return Answer(body: body, headers: headers)
    }
}

/// The maximum size of a piece of a CSV file, in bytes. The response timeout applies to each piece.
private let maxPieceOfCSV = 64 << 10

extension UnixMilliseconds {
    /// As ISO 8601 in UTC: `2025-11-21T02:40:00.123Z`.
    var dateAndTime: String {
        // The format truncates. Without the half millisecond, a Double slightly below the exact value would lose one.
        let date = Date(timeIntervalSince1970: (Double(rawValue) + 0.5) / 1_000)
        return date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}
