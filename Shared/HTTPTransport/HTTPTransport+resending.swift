import Base

extension HTTPTransport {
    /// Repeats the requests that certainly have not reached the server, until they have or the time is over.
    ///
    /// - Parameters:
    ///   - outcomes: The outcomes of the first attempt.
    ///   - end: No request is repeated after this time.
    /// - Returns: The outcomes of all requests, in order.
    package func resend(
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
    /// Whether the request certainly has not reached the server, and may be repeated.
    package var hasNotReachedServer: Bool {
        guard case .failure(let error) = self else { return false }
        return error.code == .notReachable && !error.mayHaveBeenProcessed
    }
}
