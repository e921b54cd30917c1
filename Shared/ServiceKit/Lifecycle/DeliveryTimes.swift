import Bus

/// The timeouts on a message's way to FCM. Each is derived from those that it must outlast. So an ordinary stop loses no answer
/// of FCM, and doubles no component. `DeliveryTimesTests` checks their order.
package enum DeliveryTimes {
    /// The gateway's wait for the message log to store a message, including a restart of the message log.
    package static let storeTimeout = BusTimes.requestTimeout

    /// A single request to FCM. Google asks for at least 10 s. FCM sometimes answers later, and a repeated request doubles a pop-up,
    /// so Firebase's Admin SDK for Node.js waits for 15 s.
    package static let fcmRequestTimeout = Duration.seconds(15)

    /// How long a request that has not reached FCM is repeated. It leaves FCM the larger part of the request's time.
    package static let fcmReconnectTimeout = Duration.seconds(3)

    /// The wait for the probe of an open circuit: a little more than the maximum duration of a request.
    package static let circuitProbeTimeout = fcmRequestTimeout + .seconds(5)

    /// The message log's wait for a relay's answer. The relay may wait for the pacer or an access token, and then for FCM.
    package static let relayTimeout = fcmRequestTimeout + .seconds(5)

    /// The part of a command's time that the relay reserves for the transport of its reply.
    package static let relayReplyMargin = Duration.milliseconds(250)

    /// The maximum time of a relay for a command, even if the command has a later deadline or none.
    package static let maxRelayTime = relayTimeout + .seconds(10)

    /// The time to store a relay's answer.
    private static let storingTime = Duration.seconds(2)

    /// How far the clocks of message logs that share a database may differ.
    package static let maxClockDifference = Duration.seconds(5)

    /// The minimum remaining time of a lease when a message is handed to a relay: the wait for the answer, the time to store it, and
    /// the difference of the clocks. A message log whose clock is ahead sees the lease end that much sooner.
    package static let minLease = relayTimeout + storingTime + maxClockDifference

    /// The message log's wait for a relay's answer, such that after it the lease still lasts for the storing and the difference of the
    /// clocks.
    ///
    /// - Parameter rest: The remaining time of the lease. With ``minLease`` or more the wait is ``relayTimeout``.
    package static func relayTimeout(within rest: Duration) -> Duration {
        min(relayTimeout, max(.zero, rest - storingTime - maxClockDifference))
    }

    /// The duration of a lease, the claim of one process on a message. It leaves time for the claim, so that leases need no renewal,
    /// and the store no more writes, when the store is slow.
    package static let leaseDuration = minLease + .seconds(8)

    /// How long a relay remembers what FCM has accepted, so that a repeated command is sent once. A message is handed out again
    /// after its lease at the latest, and perhaps a few times.
    package static let sendMemory = Duration.seconds(120)

    /// The stop of the relay. Requests to FCM begin only in its first seconds, so that each of them can end.
    package static let relayStopTimeout = fcmRequestTimeout + .seconds(5)

    /// The relay's server waits for its handlers a little longer, so that the handlers, and not the server, report each
    /// component's outcome.
    package static let relayDrainTimeout = relayStopTimeout + .seconds(1)

    /// The stop of the message log's outbox: the relay's pending answers arrive and are stored.
    package static let outboxStopTimeout = relayTimeout + storingTime

    /// The supervisor's wait for a service. The message log drains its server first, and then stops its outbox.
    package static let supervisorStopTimeout =
        max(relayDrainTimeout, ServerLimits().drainTimeout + outboxStopTimeout) + .seconds(5)
}
