import CZlib
import FoundationEssentials

/// The gzip format (RFC 1952).
///
/// swift-nio-extras compresses too, but each answer anew and on the connection's thread; these bodies are compressed once.
enum Gzip {
    /// The compressed bytes; `nil` if they would not be fewer, or without memory.
    static func compress(_ bytes: Data) -> Data? {
        var stream = z_stream()
        guard czlib_begin_gzip(&stream) == Z_OK else { return nil }
        defer { deflateEnd(&stream) }
        var input = [UInt8](bytes)
        // Longer output is of no use.
        var output = [UInt8](repeating: 0, count: input.count)
        let isDone = input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                stream.next_in = input.baseAddress
                stream.avail_in = UInt32(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(output.count)
                return deflate(&stream, Z_FINISH) == Z_STREAM_END
            }
        }
        return isDone ? Data(output.prefix(Int(stream.total_out))) : nil
    }
}
