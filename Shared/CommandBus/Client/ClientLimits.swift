/// A client's limits and timeouts.
package struct ClientLimits: Sendable {
    /// The maximum number of requests, outstanding and waiting together. Further ones fail with `overloaded`.
    package var maxPending = 10_000
    /// The maximum payload of a request in bytes; a larger one fails with `invalid`. The default is what services
    /// accept by default.
    package var maxPayloadBytes = 1 << 20
    /// The maximum frame of a reply in bytes. A service that sends more is disconnected.
    package var maxReplyBytes = 64 << 20
    /// How long a request waits for a connection before it fails with `unavailable`.
    package var connectGrace = Duration.seconds(1)
    /// The interval between probes of a silent endpoint.
    package var probeInterval = Duration.seconds(1)
    /// How long a connection may be silent before it counts as lost. A third of this is the interval of heartbeats.
    package var silence = BusTimes.silence

    package init() {}
}
