import Schemas

/// The way to the phones: hands messages and pushes to FCM.
protocol FCMSender: Sendable {
    /// Sends components, beginning with the first.
    ///
    /// - Parameters:
    ///   - now: The wall clock, Unix milliseconds: what is left of its time is counted from now.
    ///   - expiry: FCM is not asked from then on; what was asked before may still be answered for a moment.
    ///   - deadline: When to give up; what is not known by then is a retryable error.
    /// - Returns: FCM's name for each, or why it was not accepted.
    func send(
        _ components: [Component], of message: RelayMessage, now: UnixMilliseconds, before expiry: ContinuousClock.Instant,
        by deadline: ContinuousClock.Instant
    ) async -> [Result<String, SendFailure>]

    /// Sends a push to some of its recipients, to all of them at once.
    ///
    /// - Parameters: As for messages.
    /// - Returns: FCM's name for each, or why it was not accepted.
    func send(
        _ push: RelayPush, to recipients: [PushRecipient], now: UnixMilliseconds, before expiry: ContinuousClock.Instant,
        by deadline: ContinuousClock.Instant
    ) async -> [Result<String, SendFailure>]
}
