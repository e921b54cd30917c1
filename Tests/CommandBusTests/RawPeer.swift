import CZeroMQ
import FoundationEssentials
import Testing

#if canImport(Glibc)
    import Glibc
#endif

/// A ZeroMQ socket as a stranger's programme has it, without anything of the bus. Never blocks a thread.
final class RawPeer {
    private let context: UnsafeMutableRawPointer
    private let socket: UnsafeMutableRawPointer

    init(_ type: Int32, connectedTo endpoint: String) throws {
        context = try #require(zmq_ctx_new())
        socket = try #require(zmq_socket(context, type))
        set(ZMQ_LINGER, 0)
        try #require(zmq_connect(socket, endpoint) == 0)
    }

    init(_ type: Int32, boundTo endpoint: String) throws {
        context = try #require(zmq_ctx_new())
        socket = try #require(zmq_socket(context, type))
        set(ZMQ_LINGER, 0)
        try #require(zmq_bind(socket, endpoint) == 0)
    }

    deinit {
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
            try await eventually("the peer takes nothing") {
                frame.withUnsafeBytes { zmq_send(socket, $0.baseAddress, $0.count, flags) } >= 0
            }
        }
    }

    func send(_ frames: String...) async throws {
        try await send(frames.map { Array($0.utf8) })
    }

    func receive(within limit: Duration = .seconds(10)) async throws -> [[UInt8]] {
        var frames: [[UInt8]] = []
        var more = true
        while more {
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            var size: Int32 = -1
            try await eventually(within: limit, "no message arrives") {
                size = zmq_recv(socket, &buffer, buffer.count, ZMQ_DONTWAIT)
                return size >= 0
            }
            try #require(size >= 0)
            frames.append(Array(buffer.prefix(Int(size))))
            var flag: Int32 = 0
            var flagSize = MemoryLayout<Int32>.size
            zmq_getsockopt(socket, ZMQ_RCVMORE, &flag, &flagSize)
            more = flag != 0
        }
        return frames
    }

    func receiveText() async throws -> [String] {
        try await receive().map { String(decoding: $0, as: UTF8.self) }
    }
}
