import CSV
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTPTypes

/// A part of a CSV file.
struct CSVPart<Cursor: Sendable>: Sendable {
    let lines: [CSVLine]
    /// Where the next part begins; `nil` after the last one.
    let next: Cursor?
}

extension Answer {
    /// A CSV file. Its parts are read while it is sent, each after the previous one was sent, so that a file of any size needs
    /// little memory. If the reading fails on the way, the connection breaks, so that the client notices that the file is incomplete.
    ///
    /// - Parameters:
    ///   - name: The file's name.
    ///   - channel: The request's connection.
    ///   - first: The first part.
    ///   - part: Reads a further part. It throws if the caller has lost the right.
    static func csv<Cursor: Sendable>(
        _ name: String, header: CSVLine, on channel: any NIOCore.Channel, first: CSVPart<Cursor>,
        then part: @escaping @Sendable (Cursor) async throws -> CSVPart<Cursor>
    ) -> Answer {
        let body = ResponseBody { writer in
            var lines = [header] + first.lines
            var next = first.next
            while true {
                var bytes = ByteBuffer(string: lines.map(\.text).joined())
                while let piece = bytes.readSlice(length: min(bytes.readableBytes, maxPieceOfCSV)), piece.readableBytes > 0 {
                    try await channel.writeAndFlush(HTTPResponsePart.body(piece))
                }
                guard let cursor = next else { break }
                let read = try await part(cursor)
                (lines, next) = (read.lines, read.next)
            }
            try await writer.finish(nil)
        }
        return Answer(
            body: body,
            headers: [
                .contentType: "text/csv; charset=utf-8; header=present", .vary: "Accept",
                .contentDisposition: "attachment; filename=\"\(name)\"",
            ])
    }
}

/// The maximum size of a piece of a CSV file, in bytes. A client has the time of a response for each.
private let maxPieceOfCSV = 64 << 10
