import CZeroMQ

extension ZeroMQSocket {
    /// How a connection is kept, and how its end is noticed when the peer is stopped or its machine is gone.
    ///
    /// - Parameter silence: How long the peer may be silent before the connection counts as lost.
    func setLiveness(silence: Duration) throws(BusError) {
        let milliseconds = Int32(clamping: max(Milliseconds(silence).rawValue, 3))
        try set(ZMQ_HEARTBEAT_IVL, milliseconds / 3)
        try set(ZMQ_HEARTBEAT_TIMEOUT, milliseconds - milliseconds / 3)
        // A peer that accepts and then says nothing, such as a stopped process.
        try set(ZMQ_HANDSHAKE_IVL, milliseconds)
        try set(ZMQ_RECONNECT_IVL, Int32(50))
        try set(ZMQ_RECONNECT_IVL_MAX, Int32(1_000))
    }
}
