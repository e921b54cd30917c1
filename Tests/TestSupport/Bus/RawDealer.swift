import CZeroMQ
import FoundationEssentials
import Testing

/// A plain ZeroMQ DEALER, as in another program, without our bus module. It never blocks a thread.
package final class RawDealer {
    private let context: UnsafeMutableRawPointer
    private let socket: UnsafeMutableRawPointer

    package init(connectedTo endpoint: String) throws {
        context = try #require(zmq_ctx_new())
        socket = try #require(zmq_socket(context, ZMQ_DEALER))
        let linger: Int32 = 0
        withUnsafeBytes(of: linger) { _ = zmq_setsockopt(socket, ZMQ_LINGER, $0.baseAddress, $0.count) }
        try #require(zmq_connect(socket, endpoint) == 0)
    }

    deinit {
        zmq_close(socket)
        zmq_ctx_term(context)
    }

    package func send(_ frames: [[UInt8]]) async throws {
        for (index, frame) in frames.enumerated() {
            let flags = ZMQ_DONTWAIT | (index < frames.count - 1 ? ZMQ_SNDMORE : 0)
            try await eventually {
                frame.withUnsafeBytes { zmq_send(socket, $0.baseAddress, $0.count, flags) } >= 0
            }
        }
    }

    /// The next message as texts; `nil` if none comes in time.
    package func receive(within limit: Duration = .seconds(120)) async throws -> [String]? {
        let deadline = ContinuousClock.now + limit
        while ContinuousClock.now < deadline {
            if let frames = receiveNow() { return frames }
            try await Task.sleep(for: .milliseconds(1))
        }
        return receiveNow()
    }

    /// All frames of a message arrive together.
    private func receiveNow() -> [String]? {
        var frames: [String] = []
        var more: Int32 = 1
        while more != 0 {
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            let size = zmq_recv(socket, &buffer, buffer.count, ZMQ_DONTWAIT)
            guard size >= 0 else { return nil }
            frames.append(String(decoding: buffer.prefix(Int(size)), as: UTF8.self))
            var length = MemoryLayout<Int32>.size
            zmq_getsockopt(socket, ZMQ_RCVMORE, &more, &length)
        }
        return frames
    }
}
