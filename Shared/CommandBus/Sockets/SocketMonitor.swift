import CZeroMQ
import Synchronization

/// Reports connects and disconnects of a socket with one connection.
///
/// The owner of the watched socket owns it.
final class SocketMonitor {
    enum Event {
        /// The ZMTP handshake is complete: messages flow.
        case connected
        case disconnected
    }

    /// Where the events arrive.
    let socket: ZeroMQSocket
    private let watched: ZeroMQSocket

    private static let count = Atomic<Int>(0)

    /// Starts the monitor. Call it before the socket connects.
    init(of watched: ZeroMQSocket, context: ZeroMQContext) throws(BusError) {
        let address = "inproc://monitor-\(Self.count.wrappingAdd(1, ordering: .relaxed).newValue)"
        try watched.monitor(at: address, events: ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_DISCONNECTED)
        let socket = try context.makeSocket(ZMQ_PAIR)
        do {
            try socket.set(ZMQ_LINGER, Int32(0))
            try socket.connect(to: address)
        } catch {
            socket.close()
            throw error
        }
        self.socket = socket
        self.watched = watched
    }

    /// The next event, if there is one.
    func next() -> Event? {
        while let event = receive() {
            switch Int32(event) {
            case ZMQ_EVENT_HANDSHAKE_SUCCEEDED: return .connected
            case ZMQ_EVENT_DISCONNECTED: return .disconnected
            default: continue
            }
        }
        return nil
    }

    /// An event is two frames: its number (16 bits) with a value (32 bits), and the address.
    private func receive() -> UInt16? {
        var more = true
        let event = socket.receive { bytes, hasMore in
            more = hasMore
            return bytes.count >= 2 ? bytes.loadUnaligned(as: UInt16.self) : 0
        }
        guard let event else { return nil }
        while more {
            guard socket.receive({ more = $1 }) != nil else { break }
        }
        return event
    }

    func close() {
        watched.stopMonitor()
        socket.close()
    }
}
