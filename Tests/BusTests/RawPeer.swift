import CZeroMQ
import FoundationEssentials
import Testing
import TestSupport

#if canImport(Glibc)
    import Glibc
#endif

/// A plain ZeroMQ socket, as in another program, without our bus module. It never blocks a thread.
///
/// A test uses it from one task at a time. The task may change its thread only at a suspension, which is the memory barrier
/// that ZeroMQ requires.
final class RawPeer: @unchecked Sendable {
    private let context: UnsafeMutableRawPointer
    private let socket: UnsafeMutableRawPointer
    private var isClosed = false

    /// - Parameter identity: The routing id that it chooses; `nil` for none.
    init(_ type: Int32, connectedTo endpoint: String, identity: String? = nil) throws {
        context = try #require(zmq_ctx_new())
        socket = try #require(zmq_socket(context, type))
        set(ZMQ_LINGER, 0)
        if let identity { zmq_setsockopt(socket, ZMQ_ROUTING_ID, identity, identity.utf8.count) }
        try #require(zmq_connect(socket, endpoint) == 0)
    }

    init(_ type: Int32, boundTo endpoint: String) throws {
        context = try #require(zmq_ctx_new())
        socket = try #require(zmq_socket(context, type))
        set(ZMQ_LINGER, 0)
        try #require(zmq_bind(socket, endpoint) == 0)
    }

    deinit {
        close()
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        zmq_close(socket)
        zmq_ctx_term(context)
    }

    var endpoint: String {
        var buffer = [CChar](repeating: 0, count: 256)
        var size = buffer.count
        zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, &buffer, &size)
        return String(decoding: buffer.prefix(max(size - 1, 0)).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    func set(_ option: Int32, _ value: Int32) {
        withUnsafeBytes(of: value) { _ = zmq_setsockopt(socket, option, $0.baseAddress, $0.count) }
    }

    func send(_ frames: [[UInt8]]) async throws {
        for (index, frame) in frames.enumerated() {
            let flags = ZMQ_DONTWAIT | (index < frames.count - 1 ? ZMQ_SNDMORE : 0)
            try await eventually("room for a frame") {
                frame.withUnsafeBytes { zmq_send(socket, $0.baseAddress, $0.count, flags) } >= 0
            }
        }
    }

    func send(_ frames: String...) async throws {
        try await send(frames.map { Array($0.utf8) })
    }

    func receive(within limit: Duration = .seconds(120)) async throws -> [[UInt8]] {
        try await eventually("a message", within: limit) { receiveNow() }
    }

    /// A message, if one has arrived.
    func receiveNow() -> [[UInt8]]? {
        var frames: [[UInt8]] = []
        var more: Int32 = 1
        while more != 0 {
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            let size = zmq_recv(socket, &buffer, buffer.count, ZMQ_DONTWAIT)
            guard size >= 0 else { return nil }
            frames.append(Array(buffer.prefix(Int(size))))
            var flagSize = MemoryLayout<Int32>.size
            zmq_getsockopt(socket, ZMQ_RCVMORE, &more, &flagSize)
        }
        return frames
    }

    func receiveText() async throws -> [String] {
        try await receive().map { String(decoding: $0, as: UTF8.self) }
    }
}
