/// A server's limits and timeouts.
package struct ServerLimits: Sendable {
    /// The maximum number of accepted and unanswered requests. Further ones get `overloaded`.
    package var maxInFlight = 1_024
    /// The maximum header in bytes; a larger one is `invalid`.
    package var maxHeaderBytes = 8 << 10
    /// The maximum payload of a request in bytes; a larger one is `invalid`. A peer that sends a frame of sixteen times this size
    /// is disconnected, to protect the memory.
    package var maxPayloadBytes = 1 << 20
    /// The maximum number of connections. A further one is closed at once. It is less if the process has few descriptors.
    package var maxPeers = 1_024
    /// The maximum payload of a reply in bytes. A larger one becomes `internal`.
    package var maxReplyBytes = 16 << 20
    /// How long a stopping server waits for its handlers. Requests that are unanswered after that get `unavailable`.
    package var drainTimeout = Duration.seconds(10)
    /// How long a client that sends heartbeats may be silent before its connection counts as lost.
    package var silence = BusTimes.silence

    package init() {}
}
