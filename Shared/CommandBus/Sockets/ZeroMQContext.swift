import CZeroMQ
import Synchronization

/// ZeroMQ's context: it owns the I/O thread and makes the sockets.
///
/// Sockets may be made on any thread. The lock prevents a new socket during termination.
final class ZeroMQContext: Sendable {
    private let pointer: Mutex<Pointer?>

    /// A ZeroMQ context is thread-safe.
    private struct Pointer: @unchecked Sendable {
        let raw: UnsafeMutableRawPointer

        func makeSocket(_ type: Int32) throws(BusError) -> Pointer {
            guard let socket = zmq_socket(raw, type) else {
                throw BusError(.system, "ZeroMQ cannot make a socket: \(ZeroMQFault.last)")
            }
            return Pointer(raw: socket)
        }
    }

    init() throws(BusError) {
        guard let raw = zmq_ctx_new() else { throw BusError(.system, "ZeroMQ cannot start: \(ZeroMQFault.last)") }
        pointer = Mutex(Pointer(raw: raw))
    }

    deinit {
        assert(pointer.withLock { $0 == nil }, "a ZeroMQ context must be terminated")
    }

    /// Makes a socket of one of ZeroMQ's types, such as `ZMQ_DEALER`.
    func makeSocket(_ type: Int32) throws(BusError) -> ZeroMQSocket {
        let made = pointer.withLock { context in
            context.map { context in Result { () throws(BusError) in try context.makeSocket(type) } }
        }
        guard let made else { throw BusError(.closed, "the bus is closed") }
        return ZeroMQSocket(owning: try made.get().raw)
    }

    /// Terminates the context. Blocks until every socket's last messages are sent, or its LINGER is over.
    func terminate() {
        let taken = pointer.withLock { pointer in
            defer { pointer = nil }
            return pointer
        }
        guard let taken else { return }
        while zmq_ctx_term(taken.raw) != 0, ZeroMQFault.last.isInterruption {}
    }
}
