import ServiceKit
import Time

extension HTTPTransport {
    /// Sends a single request.
    func sendReconnecting(
        _ request: HTTPTransportRequest, before expiry: ContinuousClock.Instant
    ) async throws(TransportError) -> HTTPTransportResponse {
        try await sendReconnecting([request], before: expiry)[0].get()
    }

    /// Sends requests, and repeats those that certainly have not reached the server, for a few seconds. So a short interruption
    /// of the network does not cost an urgent message the ten seconds that a failing FCM requires.
    ///
    /// - Parameter expiry: No request is repeated after this time.
    @inline(__always)
    func sendReconnecting(_ requests: [HTTPTransportRequest], before expiry: ContinuousClock.Instant) async
        -> [HTTPTransportOutcome]
    {
        let begin = ContinuousClock.now
        let outcomes = await send(requests)
        guard outcomes.contains(where: \.hasNotReachedServer) else { return outcomes }
        let end = requests.reduce(min(expiry, begin + DeliveryTimes.fcmReconnectTimeout)) { min($0, $1.deadline) }
        return await send(requests, after: outcomes, before: end)
    }

    /// Repeats requests that have not reached the server.
    private func send(
        _ requests: [HTTPTransportRequest], after outcomes: [HTTPTransportOutcome], before end: ContinuousClock.Instant
    ) async -> [HTTPTransportOutcome] {
        var outcomes = outcomes
        var backoff = Backoff(first: .milliseconds(100), max: .milliseconds(500), deadline: end)
        while case let unsent = outcomes.indices.filter({ outcomes[$0].hasNotReachedServer }), !unsent.isEmpty,
            let pause = backoff.nextPause(), (try? await Task.sleep(for: pause)) != nil
        {
            for (index, outcome) in zip(unsent, await send(unsent.map { requests[$0] })) { outcomes[index] = outcome }
        }
        return outcomes
    }
}

extension HTTPTransportOutcome {
    fileprivate var hasNotReachedServer: Bool {
        guard case .failure(let error) = self else { return false }
        return error.code == .notReachable && !error.mayHaveBeenProcessed
    }
}
