import HTTPTypes
import Hummingbird
import NIOCore

extension ResponseBody {
    private static let pieces = 20

    /// The same body, sent in small pieces. The last one leaves after the given time, however long the body is.
    func sentSlowly(within time: Duration) -> ResponseBody {
        ResponseBody(contentLength: contentLength) { [contentLength] writer in
            try await write(SlowBodyWriter(base: writer, time: time, length: contentLength, pieces: Self.pieces))
        }
    }
}

/// Splits its input into pieces and pauses before each, for the piece's share of the time. Once the server stops, it no longer
/// pauses.
private struct SlowBodyWriter: ResponseBodyWriter {
    var base: any ResponseBodyWriter
    let time: Duration
    /// The body's bytes; `nil` if unknown. Then each write takes the whole time.
    let length: Int?
    let pieces: Int
    private var isStopping = false

    init(base: any ResponseBodyWriter, time: Duration, length: Int?, pieces: Int) {
        self.base = base
        self.time = time
        self.length = length
        self.pieces = pieces
    }

    mutating func write(_ buffer: ByteBuffer) async throws {
        var rest = buffer
        let whole = max(length ?? buffer.readableBytes, 1)
        let size = max(1, (whole + pieces - 1) / pieces)
        while let piece = rest.readSlice(length: min(size, rest.readableBytes)), piece.readableBytes > 0 {
            let pause = time * (Double(piece.readableBytes) / Double(whole))
            if !isStopping { isStopping = !(try await InterruptiblePause.wait(pause)) }
            try await base.write(piece)
        }
    }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
        try await base.finish(trailingHeaders)
    }
}
