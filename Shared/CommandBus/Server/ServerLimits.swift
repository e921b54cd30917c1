/// What a server takes on.
package struct ServerLimits: Sendable {
    /// The most requests accepted and not answered yet; one more is `overloaded`.
    package var maxInFlight = 1_024
    /// The largest header in bytes; a larger one is `invalid`.
    package var maxHeaderBytes = 8 << 10
    /// The largest payload of a request in bytes; a larger one is `invalid`. A peer that sends a frame of sixteen times
    /// as much is disconnected before that fills the memory.
    package var maxPayloadBytes = 1 << 20
    /// The most connections; one more is closed at once. Less where the system allows the process few descriptors.
    package var maxPeers = 1_024
    /// The largest payload of a reply in bytes; a handler that makes a larger one has failed.
    package var maxReplyBytes = 16 << 20
    /// How long a server that is stopping waits for its handlers; what they have not answered by then is `unavailable`.
    package var drainTimeout = Duration.seconds(10)
    /// How long a peer may be silent, although asked for a sign of life, before its connection counts as lost.
    package var silence = Duration.seconds(3)

    package init() {}
}
