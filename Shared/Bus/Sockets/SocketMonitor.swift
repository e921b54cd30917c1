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
        /// The handshake has failed. The connection's end is another event.
        case refused(Refusal)
    }

    enum Refusal {
        /// The service does not know this process's key.
        case unknownKey
        /// The two sides disagree about the protocol or the encryption. ZeroMQ does not connect again.
        case protocolError
        /// The connection has ended first. ZeroMQ connects again.
        case unknown
    }

    /// Where the events arrive.
    let socket: ZeroMQSocket
    private let watched: ZeroMQSocket

    private static let events =
        ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH
        | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL

    private static let count = Atomic<Int>(0)

    /// Starts the monitor. Call it before the socket connects.
    init(of watched: ZeroMQSocket, context: ZeroMQContext) throws(BusError) {
        let address = "inproc://monitor-\(Self.count.wrappingAdd(1, ordering: .relaxed).newValue)"
        try watched.monitor(at: address, events: Self.events)
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
            case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH: return .refused(.unknownKey)
            case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL: return .refused(.protocolError)
            case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL: return .refused(.unknown)
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
