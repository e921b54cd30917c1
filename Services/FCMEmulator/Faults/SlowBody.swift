import HTTPTypes
import Hummingbird
import NIOCore

extension ResponseBody {
    private static let pieces = 20

    /// The same body, sent in small pieces spread over the given time.
    func sentSlowly(within time: Duration) -> ResponseBody {
        ResponseBody(contentLength: contentLength) { writer in
            try await write(SlowBodyWriter(base: writer, pause: time / Self.pieces, pieces: Self.pieces))
        }
    }
}

/// Splits its input into pieces and pauses after each. Once the server stops, it no longer pauses.
private struct SlowBodyWriter: ResponseBodyWriter {
    var base: any ResponseBodyWriter
    let pause: Duration
    let pieces: Int
    private var isStopping = false

    init(base: any ResponseBodyWriter, pause: Duration, pieces: Int) {
        self.base = base
        self.pause = pause
        self.pieces = pieces
    }

    mutating func write(_ buffer: ByteBuffer) async throws {
        var rest = buffer
        let length = max(1, (buffer.readableBytes + pieces - 1) / pieces)
        while let piece = rest.readSlice(length: min(length, rest.readableBytes)), piece.readableBytes > 0 {
            try await base.write(piece)
            if !isStopping { isStopping = !(try await InterruptiblePause.wait(pause)) }
        }
    }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
        try await base.finish(trailingHeaders)
    }
}
