import FCM
import FoundationEssentials
import Schemas

/// FCM's HTTP v1 API.
struct HTTPv1Sender: FCMSender, PushSender {
    private let url: String
    private let api: AuthorizedRequests
    private let defaults: FCMDefaults
    private let now: @Sendable () -> UnixMilliseconds

    /// - Parameters:
    ///   - endpoint: `https://`, a host and an optional port.
    ///   - project: The Firebase project's id.
    ///   - now: The wall clock, for a Retry-After that is a date.
    init(
        endpoint: String, project: String, api: AuthorizedRequests, defaults: FCMDefaults = FCMDefaults(),
        now: @escaping @Sendable () -> UnixMilliseconds
    ) {
        url = "\(endpoint)/v1/projects/\(project)/messages:send"
        self.api = api
        self.defaults = defaults
        self.now = now
    }

    func send(
        _ components: [Component], of message: RelayMessage, now: UnixMilliseconds, before expiry: ContinuousClock.Instant,
        by deadline: ContinuousClock.Instant
    ) async -> [Result<String, SendFailure>] {
        guard let bodies = bodies(components, of: message, now: now) else {
            return components.map { _ in .failure(.unwritable) }
        }
        return await api.send(bodies, to: url, before: expiry, by: deadline) { FCMAnswer.classify($0, now: self.now()) }
    }

    func send(
        _ push: RelayPush, to recipients: [PushRecipient], now: UnixMilliseconds, before expiry: ContinuousClock.Instant,
        by deadline: ContinuousClock.Instant
    ) async -> [Result<String, SendFailure>] {
        let request = FCMPush(push, now: now)
        guard let bodies = try? recipients.map({ try request.body(for: $0) }) else {
            return recipients.map { _ in .failure(.unwritable) }
        }
        return await api.send(bodies, to: url, before: expiry, by: deadline) { FCMAnswer.classify($0, now: self.now()) }
    }

    @inline(never)
    private func bodies(_ components: [Component], of message: RelayMessage, now: UnixMilliseconds) -> [Data]? {
        try? components.map { try FCMRequest.body($0, of: message, now: now, defaults: defaults) }
    }
}
