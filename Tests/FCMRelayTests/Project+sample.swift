import Schemas

@testable import FCMRelay

extension Project {
    /// A project with a test's own sender.
    static func sample(_ id: String, _ sender: any FCMSender, rate: Double = 1_000_000) -> Project {
        Project(
            id: id, sender: sender, pushSender: sender as? any PushSender, topics: nil, tokens: nil, transport: NoTransport(),
            pacer: Pacer(rate: rate, ramp: .zero))
    }
}

extension FCMSender {
    /// Sends one component.
    func send(
        _ component: Component, of message: RelayMessage, now: UnixMilliseconds, before expiry: ContinuousClock.Instant,
        by deadline: ContinuousClock.Instant
    ) async -> Result<String, SendFailure> {
        await send([component], of: message, now: now, before: expiry, by: deadline)[0]
    }
}

extension HTTPTransport {
    /// Sends one request.
    func send(_ request: HTTPTransportRequest) async throws(TransportError) -> HTTPTransportResponse {
        try await send([request])[0].get()
    }
}

/// A transport without a server.
private struct NoTransport: HTTPTransport {
    func send(_ requests: [HTTPTransportRequest]) async -> [HTTPTransportOutcome] {
        requests.map { _ in .failure(TransportError(.notReachable, "there is no network")) }
    }

    func refuseNewRequests() {}

    func renewConnections() {}

    func close() async {}
}
