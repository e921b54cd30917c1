@testable import FCMRelay

extension Project {
    /// A project whose messages go to a sender of the test's.
    static func sample(_ id: String, _ sender: any FCMSender, rate: Double = 1_000_000) -> Project {
        Project(
            id: id, sender: sender, topics: nil, tokens: nil, transport: NoTransport(), pacer: Pacer(rate: rate, ramp: .zero))
    }
}

/// Leads nowhere.
private struct NoTransport: HTTPTransport {
    func send(_ request: HTTPTransportRequest) async throws(TransportError) -> HTTPTransportResponse {
        throw TransportError(.notReachable, "there is no network")
    }

    func close() async {}
}
