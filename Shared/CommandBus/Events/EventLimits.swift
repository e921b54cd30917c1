/// The limits of a publisher and of a subscriber.
package struct EventLimits: Sendable {
    /// The maximum number of queued events: for each subscriber of a publisher, and for the task that consumes them.
    package var maxPending = 10_000
    /// The maximum payload in bytes.
    package var maxPayloadBytes = 1 << 20
    /// The maximum number of subscribers of a publisher. A further connection is closed at once. It is less if the process has
    /// few descriptors.
    package var maxPeers = 1_024
    /// How long a connection may be silent, despite heartbeats, before it counts as lost.
    package var silence = BusTimes.silence

    package init() {}
}
