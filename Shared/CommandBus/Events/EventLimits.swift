/// What a publisher and a subscriber keep of what cannot be passed on at once.
package struct EventLimits: Sendable {
    /// The most events kept for each subscriber, at a publisher and on its way, and for the task that takes them.
    package var maxPending = 10_000
    /// The largest payload in bytes.
    package var maxPayloadBytes = 1 << 20
    /// The most subscribers of a publisher; one more is closed at once. Less where the system allows the process few descriptors.
    package var maxPeers = 1_024
    /// How long the other end of a connection may be silent, although asked for a sign of life, before the connection
    /// counts as lost.
    package var silence = Duration.seconds(3)

    package init() {}
}
