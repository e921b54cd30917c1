import FoundationEssentials
import Schemas

/// FCM's legacy HTTP API, whose shutdown began in 2024, for gateways that still speak it.
struct LegacySender: FCMSender {
    private let url: String
    private let key: ServerKey
    private let transport: any HTTPTransport
    private let now: @Sendable () -> UnixMilliseconds

    /// - Parameters:
    ///   - endpoint: `https://` and a host, and a port perhaps.
    ///   - now: The wall clock, for a Retry-After that is a date.
    init(
        endpoint: String, key: ServerKey, transport: any HTTPTransport, now: @escaping @Sendable () -> UnixMilliseconds
    ) {
        url = "\(endpoint)/fcm/send"
        self.key = key
        self.transport = transport
        self.now = now
    }

    func send(
        _ component: Component, of message: RelayMessage, now: UnixMilliseconds, before expiry: ContinuousClock.Instant,
        by deadline: ContinuousClock.Instant
    ) async -> Result<String, SendFailure> {
        do {
            let body = try SchemaJSON.encode(LegacyRequest(FCMRequest(component, of: message, now: now)))
            let response = try await PatientPost(transport: transport).post(
                body, to: url, headers: ["authorization: key=\(key.value)"], before: expiry, by: deadline)
            switch FCMAnswer.classifyLegacy(response, now: self.now()) {
            case .accepted(let name): return .success(name)
            case .refused(let failure), .tokenRefused(let failure): return .failure(failure)
            }
        } catch let failure as SendFailure {
            return .failure(failure)
        } catch {
            return .failure(.unwritable)
        }
    }
}
