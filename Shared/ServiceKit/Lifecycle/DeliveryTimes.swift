import CommandBus

/// The timeouts on a message's way to FCM. Each is derived from those that it has to outlast, so that an ordinary stop loses no
/// answer of FCM's, and so doubles nothing.
package enum DeliveryTimes {
    /// A single request to FCM. Google asks for no less than 10 s.
    package static let fcmRequestTimeout = Duration.seconds(10)

    /// The message log's wait for a relay's answer: the relay may wait for its turn or for an access token, and then for FCM.
    package static let relayTimeout = fcmRequestTimeout * 2

    /// What has to be left of a lease when a message is handed to a relay: the relay's answer, and the time to store it.
    package static let minLease = relayTimeout + .seconds(2)

    /// How long a message belongs to the process that claimed it.
    package static let leaseDuration = minLease + .seconds(8)

    /// The stop of the relay: requests to FCM begin in its first half only, so that each of them can end.
    package static let relayStopTimeout = fcmRequestTimeout * 2

    /// The relay's server waits for its handlers a little longer, so that they, and not the server, say what became of each
    /// component.
    package static let relayDrainTimeout = relayStopTimeout + .seconds(1)

    /// The stop of the message log's outbox: what it has handed to a relay is answered, and stored.
    package static let outboxStopTimeout = minLease

    /// The supervisor's wait for a service. The message log first drains its server, and then stops its outbox.
    package static let supervisorStopTimeout =
        max(relayDrainTimeout, ServerLimits().drainTimeout + outboxStopTimeout) + .seconds(5)
}
