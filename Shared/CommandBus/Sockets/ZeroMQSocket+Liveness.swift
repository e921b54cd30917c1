import CZeroMQ
import Time

extension ZeroMQSocket {
    /// Sets the heartbeats and timeouts of a client, which detect a stopped or unreachable service. Each heartbeat tells the service
    /// how long this client may be silent, so that the service need not ask.
    ///
    /// libzmq ends the service's wait at each message of the client, and only the next heartbeat begins it again. A client that
    /// falls silent in between is noticed by the service's own heartbeat.
    ///
    /// - Parameter silence: How long the service may be silent before the connection counts as lost.
    func setLiveness(ofClient silence: Duration) throws(BusError) {
        let milliseconds = Self.milliseconds(silence)
        try set(ZMQ_HEARTBEAT_IVL, milliseconds / 3)
        try set(ZMQ_HEARTBEAT_TIMEOUT, milliseconds - milliseconds / 3)
        // ZeroMQ sends it in tenths of a second.
        try set(ZMQ_HEARTBEAT_TTL, max(milliseconds, 100))
        // For a service that accepts and then sends nothing, such as a stopped process.
        try set(ZMQ_HANDSHAKE_IVL, milliseconds)
        // The system would wait for minutes for a machine that does not answer.
        try set(ZMQ_CONNECT_TIMEOUT, milliseconds)
        try set(ZMQ_RECONNECT_IVL, Int32(50))
        try set(ZMQ_RECONNECT_IVL_MAX, Int32(1_000))
    }

    /// Sets the heartbeats and timeouts of a service, which detect a client that is gone.
    ///
    /// A client of the product sends heartbeats by itself. The service's own are for other clients, and rare: each of them wakes up
    /// both processes.
    ///
    /// - Parameter silence: How long a client may be silent after a heartbeat, before its connection counts as lost. After a
    ///   message it is up to 7/3 of that.
    func setLiveness(ofService silence: Duration) throws(BusError) {
        let milliseconds = Self.milliseconds(silence)
        try set(ZMQ_HEARTBEAT_IVL, milliseconds / 3 * 5)
        try set(ZMQ_HEARTBEAT_TIMEOUT, milliseconds - milliseconds / 3)
        try set(ZMQ_HANDSHAKE_IVL, milliseconds)
    }

    private static func milliseconds(_ silence: Duration) -> Int32 {
        Int32(clamping: min(max(Milliseconds(timeout: silence).rawValue, 3), Int64(Int32.max / 5)))
    }
}
