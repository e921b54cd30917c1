import FCM
import FoundationEssentials
import Schemas

/// Sends messages and pushes to FCM.
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

    /// Sends a push to some of its recipients, concurrently.
    ///
    /// - Parameters: The same as for messages.
    /// - Returns: For each recipient FCM's name, or why it was not accepted.
    func send(
        _ push: RelayPush, to recipients: [PushRecipient], now: UnixMilliseconds, before expiry: ContinuousClock.Instant,
        by deadline: ContinuousClock.Instant
    ) async -> [Result<String, SendFailure>]
}

/// FCM's HTTP v1 API.
struct HTTPv1Sender: FCMSender {
    private let url: String
    private let google: GoogleClient
    private let defaults: FCMDefaults
    private let now: @Sendable () -> UnixMilliseconds

    /// - Parameters:
    ///   - endpoint: `https://`, a host and an optional port.
    ///   - project: The Firebase project's id.
    ///   - now: The wall clock, for a Retry-After that is a date.
    init(
        endpoint: String, project: String, google: GoogleClient, defaults: FCMDefaults = FCMDefaults(),
        now: @escaping @Sendable () -> UnixMilliseconds
    ) {
        url = "\(endpoint)/v1/projects/\(project)/messages:send"
        self.google = google
        self.defaults = defaults
        self.now = now
    }

    func send(
        _ components: [Component], of message: RelayMessage, now: UnixMilliseconds, before expiry: ContinuousClock.Instant,
        by deadline: ContinuousClock.Instant
    ) async -> [Result<String, SendFailure>] {
        let bodies = bodies(components, of: message, now: now)
        return await google.send(bodies, to: url, before: expiry, by: deadline) { FCMAnswer.classify($0, now: self.now()) }
    }

    func send(
        _ push: RelayPush, to recipients: [PushRecipient], now: UnixMilliseconds, before expiry: ContinuousClock.Instant,
        by deadline: ContinuousClock.Instant
    ) async -> [Result<String, SendFailure>] {
        guard let request = try? FCMPush(push, now: now) else { return recipients.map { _ in .failure(.unwritable) } }
        let bodies = recipients.map { request.body(for: $0) }
        return await google.send(bodies, to: url, before: expiry, by: deadline) { FCMAnswer.classify($0, now: self.now()) }
    }

    @inline(never)
    private func bodies(_ components: [Component], of message: RelayMessage, now: UnixMilliseconds) -> [Data] {
        components.map { FCMRequest.body($0, of: message, now: now, defaults: defaults) }
    }
}
