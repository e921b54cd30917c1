import Bus
import CZlib
import NIOCore
import Synchronization

/// The gzip format (RFC 1952).
///
/// swift-nio-extras also compresses, but it compresses every answer on the connection's thread, however large, and keeps the entity
/// tag of the plain answer.
enum Gzip {
    /// For documents that are made once and sent often.
    static let bestLevel = Z_BEST_COMPRESSION
    /// For copies of data that change: in a cube of 200 KB it saves 15 % more than ``fastLevel``, and takes 3 ms.
    static let keptLevel: Int32 = 6
    /// For one answer: the highest of zlib's levels without lazy matching takes a third of the default level's time, and makes a
    /// tenth more bytes.
    static let fastLevel: Int32 = 3

    /// The maximum number of bytes that are compressed on a connection's thread. More would delay its other connections.
    static let maxOnConnectionThread = 64 << 10

    /// The compressed bytes of one answer; `nil` if they would not be fewer.
    static func compressed(_ bytes: ByteBuffer) async -> ByteBuffer? {
        guard bytes.readableBytes > maxOnConnectionThread else { return compress(bytes) }
        return await onSharedThreads { compress(bytes) }
    }

    /// The compressed bytes; `nil` if they would not be fewer.
    static func compress(_ bytes: ByteBuffer, level: Int32 = fastLevel) -> ByteBuffer? {
        let compressed = GzipStream(level: level).compress(bytes, isLast: true)
        return compressed.readableBytes < bytes.readableBytes ? compressed : nil
    }
}

/// Bytes that are compressed part by part.
final class GzipStream {
    /// On the heap, because zlib's state contains its own address.
    private let stream: UnsafeMutablePointer<z_stream>

    init(level: Int32 = Gzip.fastLevel) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // A failed allocation ends the process, as in Swift itself.
        guard czlib_begin_gzip(stream, level) == Z_OK else { preconditionFailure("there is no memory for zlib") }
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    /// Compresses the next part. A client can read it before the following one comes.
    func compress(_ bytes: ByteBuffer, isLast: Bool) -> ByteBuffer {
        var compressed = ByteBuffer()
        bytes.withUnsafeReadableBytes { input in
            let start = input.bindMemory(to: UInt8.self).baseAddress
            // zlib only reads them.
            stream.pointee.next_in = UnsafeMutablePointer(mutating: start)
            stream.pointee.avail_in = UInt32(input.count)
            repeat {
                compressed.writeWithUnsafeMutableBytes(minimumWritableBytes: 1_024 + input.count / 4) { room in
                    stream.pointee.next_out = room.bindMemory(to: UInt8.self).baseAddress
                    stream.pointee.avail_out = UInt32(room.count)
                    deflate(stream, isLast ? Z_FINISH : Z_SYNC_FLUSH)
                    return room.count - Int(stream.pointee.avail_out)
                }
            } while stream.pointee.avail_out == 0
        }
        return compressed
    }
}

/// A document that many answers share. It is compressed once, for the first client that accepts that.
final class SharedBody: Sendable {
    let plain: ByteBuffer
    private let compressing = Mutex<Task<ByteBuffer?, Never>?>(nil)

    init(_ plain: ByteBuffer) {
        self.plain = plain
    }

    /// The compressed document; `nil` if it would not be smaller.
    func compressed() async -> ByteBuffer? {
        let task = compressing.withLock { task in
            if let task { return task }
            let new = Task { [plain] in Gzip.compress(plain, level: Gzip.keptLevel) }
            task = new
            return new
        }
        return await task.value
    }
}
