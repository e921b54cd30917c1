/// What a client may use up, and how patient it is.
package struct ClientLimits: Sendable {
    /// The most requests outstanding and waiting together; one more is `overloaded`.
    package var maxPending = 10_000
    /// The largest payload of a request in bytes; a larger one is `invalid`. What services accept by default.
    package var maxPayloadBytes = 1 << 20
    /// The largest frame of a reply in bytes; a service that sends more is disconnected.
    package var maxReplyBytes = 64 << 20
    /// How long a request waits for a connection where there is none, before it is `unavailable`.
    package var connectGrace = Duration.seconds(1)
    /// How long after a probe of a silent endpoint the next one follows.
    package var probeInterval = Duration.seconds(1)
    /// How long the other end of a connection may be silent, although asked for a sign of life every third of this time,
    /// before the connection counts as lost.
    package var silence = Duration.seconds(3)

    package init() {}
}
