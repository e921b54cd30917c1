import CZeroMQ
import Time

extension ZeroMQSocket {
    /// Sets heartbeats and timeouts, which detect a stopped or unreachable peer.
    ///
    /// - Parameter silence: How long the peer may be silent before the connection counts as lost.
    func setLiveness(silence: Duration) throws(BusError) {
        let milliseconds = Int32(clamping: max(Milliseconds(timeout: silence).rawValue, 3))
        try set(ZMQ_HEARTBEAT_IVL, milliseconds / 3)
        try set(ZMQ_HEARTBEAT_TIMEOUT, milliseconds - milliseconds / 3)
        // For a peer that accepts and then sends nothing, such as a stopped process.
        try set(ZMQ_HANDSHAKE_IVL, milliseconds)
        // The system would wait for minutes for a machine that does not answer.
        try set(ZMQ_CONNECT_TIMEOUT, milliseconds)
        try set(ZMQ_RECONNECT_IVL, Int32(50))
        try set(ZMQ_RECONNECT_IVL_MAX, Int32(1_000))
    }
}
