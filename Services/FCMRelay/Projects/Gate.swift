import Schemas

/// What every request to one of Google's services passes: first its turn, then the question whether the service is worth asking.
struct Gate: Sendable {
    let pacer: Pacer
    let transport: any HTTPTransport
    let breaker = CircuitBreaker()

    init(pacer: Pacer, transport: any HTTPTransport) {
        self.pacer = pacer
        self.transport = transport
    }

    // Inlined here and all the way down: each of these functions would have a frame of its own in memory, for every send.

    /// Waits for its turn.
    ///
    /// - Parameters:
    ///   - topic: Whose messages pause together; `nil` for what is for no topic alone.
    ///   - cost: For how many it counts.
    ///   - deadline: When nobody waits for its turn any more.
    /// - Returns: Why it may not go out; or `nil`, and then ``leave(_:about:)`` is to be told what became of it.
    @inline(__always)
    func enter(
        for topic: TopicKey?, isAlert: Bool, cost: Int = 1, by deadline: ContinuousClock.Instant
    ) async -> ComponentError? {
        if !pacer.goesAtOnce(to: topic, cost: cost, by: deadline),
            let error = await pacer.turn(for: topic, isAlert: isAlert, cost: cost, by: deadline)
        {
            return error
        }
        // The connections that there are may be what fails.
        return breaker.refusal(beforeTrial: transport.renewConnections)
    }

    /// Takes note of what the failures among a message's results say about others.
    func leave<Success>(_ results: [Result<Success, SendFailure>], about topic: TopicKey?) -> [Result<Success, ComponentError>] {
        let failures = results.map { result in
            if case .failure(let failure) = result { failure } else { nil as SendFailure? }
        }
        // Failures of the service first: after one that says nothing the next message would go to see at once.
        for failure in failures where failure?.scope == .service { breaker.learn(from: failure) }
        for failure in failures where failure?.scope != .service { breaker.learn(from: failure) }
        for case let failure? in failures { pacer.learn(from: failure, about: topic) }
        return results.map { $0.mapError(\.error) }
    }
}
