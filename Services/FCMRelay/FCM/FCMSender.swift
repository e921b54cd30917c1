import Schemas

/// The way to the phones: hands one component of a message to FCM.
protocol FCMSender: Sendable {
    /// Sends a component, and returns FCM's name for it or why it was not accepted.
    ///
    /// - Parameters:
    ///   - now: The wall clock, Unix milliseconds: what is left of its time is counted from now.
    ///   - expiry: FCM is not asked from then on; what was asked before may still be answered for a moment.
    ///   - deadline: When to give up; what is not known by then is a retryable error.
    func send(
        _ component: Component, of message: RelayMessage, now: UnixMilliseconds, before expiry: ContinuousClock.Instant,
        by deadline: ContinuousClock.Instant
    ) async -> Result<String, SendFailure>
}
