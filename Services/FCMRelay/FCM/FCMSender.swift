import Schemas

/// Sends messages to FCM.
protocol FCMSender: Sendable {
    /// Sends components in order.
    ///
    /// - Parameters:
    ///   - now: The wall clock, from which the message's remaining time is computed.
    ///   - expiry: No request is sent after this time. Earlier requests may still be answered for a moment.
    ///   - deadline: When to give up. An outcome that is unknown by then is a retryable error.
    /// - Returns: For each component FCM's name, or why it was not accepted.
    func send(
        _ components: [Component], of message: RelayMessage, now: UnixMilliseconds, before expiry: ContinuousClock.Instant,
        by deadline: ContinuousClock.Instant
    ) async -> [Result<String, SendFailure>]
}

/// Sends pushes to FCM.
protocol PushSender: Sendable {
    /// Sends a push to some of its recipients, concurrently.
    ///
    /// - Parameters: The same as for messages.
    /// - Returns: For each recipient FCM's name, or why it was not accepted.
    func send(
        _ push: RelayPush, to recipients: [PushRecipient], now: UnixMilliseconds, before expiry: ContinuousClock.Instant,
        by deadline: ContinuousClock.Instant
    ) async -> [Result<String, SendFailure>]
}
