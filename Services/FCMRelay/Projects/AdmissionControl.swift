import Schemas

/// Admits requests to one of Google's services: first the pacer, then the circuit breaker.
struct AdmissionControl: Sendable {
    let pacer: Pacer
    let transport: any HTTPTransport
    let breaker = CircuitBreaker()
    /// `nil` for requests that are no messages.
    private let counts: SendCounts?

    init(pacer: Pacer, transport: any HTTPTransport, counts: SendCounts? = nil) {
        self.pacer = pacer
        self.transport = transport
        self.counts = counts
    }

    // Inlined, like the functions that it calls: otherwise each of them would have its own frame in memory, for every send.

    /// Waits for its turn.
    ///
    /// - Parameters:
    ///   - topic: The topic, whose messages pause together; `nil` for a send that is not to a single topic.
    ///   - cost: The number of requests that it counts for.
    ///   - key: The key of its message or push.
    ///   - deadline: When its caller gives up.
    /// - Returns: `nil` if the send may go out; the caller must then report the outcome to ``leave(_:about:)``.
    ///   Otherwise the reason.
    @inline(__always)
    func enter(
        for topic: FCMTopic?, isAlert: Bool, cost: Int = 1, of key: ObjectID? = nil, by deadline: ContinuousClock.Instant
    ) async -> DeliveryError? {
        if !pacer.tryTakeTurn(to: topic, cost: cost, by: deadline),
            let error = await pacer.turn(for: topic, isAlert: isAlert, cost: cost, of: key, by: deadline)
        {
            return error
        }
        // The existing connections may be the cause of the failures.
        return breaker.refusal(beforeProbe: transport.renewConnections)
    }

    /// Notes failures that affect other sends.
    func leave<Success>(_ results: [Result<Success, SendFailure>], about topic: FCMTopic?) -> [Result<Success, DeliveryError>] {
        let failures = results.map { result in
            if case .failure(let failure) = result { failure } else { nil as SendFailure? }
        }
        counts?.record(failures)
        // Failures of the service first: otherwise an inconclusive failure would start the next probe at once.
        for failure in failures where failure?.scope == .service { breaker.learn(from: failure) }
        for failure in failures where failure?.scope != .service { breaker.learn(from: failure) }
        for case let failure? in failures { pacer.learn(from: failure, about: topic) }
        return results.map { $0.mapError(\.error) }
    }
}
