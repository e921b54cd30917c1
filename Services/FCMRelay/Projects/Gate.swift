import Schemas

/// What every request to one of Google's services passes: first its turn, then the question whether the service is worth asking.
struct Gate: Sendable {
    let pacer: Pacer
    private let breaker = CircuitBreaker()

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
        return breaker.refusal()
    }

    /// Takes note of what a failure says about others.
    func leave<Success>(_ result: Result<Success, SendFailure>, about topic: TopicKey?) -> Result<Success, ComponentError> {
        switch result {
        case .success: breaker.learn(from: nil)
        case .failure(let failure):
            breaker.learn(from: failure)
            pacer.learn(from: failure, about: topic)
        }
        return result.mapError(\.error)
    }
}
