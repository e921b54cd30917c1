import FCM
import FoundationEssentials
import JSON
import Schemas

/// FCM's legacy HTTP API, for gateways that still speak it. Google began to shut it down in 2024. It has no pushes: it lacks most
/// fields of the v1 API's message.
struct LegacySender: FCMSender {
    private let url: String
    private let key: ServerKey
    private let transport: any HTTPTransport
    private let defaults: FCMDefaults
    private let now: @Sendable () -> UnixMilliseconds

    /// - Parameters:
    ///   - endpoint: `https://`, a host and an optional port.
    ///   - now: The wall clock, for a Retry-After that is a date.
    init(
        endpoint: String, key: ServerKey, transport: any HTTPTransport, defaults: FCMDefaults = FCMDefaults(),
        now: @escaping @Sendable () -> UnixMilliseconds
    ) {
        url = "\(endpoint)/fcm/send"
        self.key = key
        self.transport = transport
        self.defaults = defaults
        self.now = now
    }

    func send(
        _ components: [Component], of message: RelayMessage, now: UnixMilliseconds, before expiry: ContinuousClock.Instant,
        by deadline: ContinuousClock.Instant
    ) async -> [Result<String, SendFailure>] {
        let bodies = try? components.map { component in
            try JSONCoder.encode(LegacyRequest(FCMRequest(component, of: message, now: now, defaults: defaults)))
        }
        guard let bodies else { return components.map { _ in .failure(.unwritable) } }
        let responses = await JSONRequests(transport: transport).send(
            bodies, to: url, headers: [JSONRequests.contentType, "authorization: key=\(key.value)"], before: expiry, by: deadline)
        return responses.map { $0.flatMap { FCMAnswer.classifyLegacy($0, now: self.now()).result } }
    }
}
