import Schemas

/// The way to the phones: hands one component of a message to FCM.
protocol FCMSender: Sendable {
    /// Sends a component, and returns FCM's name for it or why it was not accepted.
    ///
    /// - Parameters:
    ///   - expiry: FCM is not asked from then on; what was asked before may still be answered for a moment.
    ///   - deadline: When to give up; what is not known by then is a retryable error.
    func send(
        _ request: FCMRequest, before expiry: ContinuousClock.Instant, by deadline: ContinuousClock.Instant
    ) async -> Result<String, SendFailure>
}
