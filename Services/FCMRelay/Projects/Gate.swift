import Schemas

/// What every request to one of Google's services passes: first its turn, then the question whether the service is worth asking.
struct Gate: Sendable {
    let pacer: Pacer
    private let breaker = CircuitBreaker()

    /// Does the work when its turn has come, and takes note of what its failure says about others.
    ///
    /// - Parameters:
    ///   - topic: Whose messages pause together; `nil` for what is for no topic alone.
    ///   - cost: For how many it counts.
    ///   - deadline: When nobody waits for its turn any more.
    func pass<Success>(
        for topic: TopicKey?, isAlert: Bool, cost: Int = 1, by deadline: ContinuousClock.Instant,
        _ work: () async -> Result<Success, SendFailure>
    ) async -> Result<Success, ComponentError> {
        if let error = await pacer.turn(for: topic, isAlert: isAlert, cost: cost, by: deadline) { return .failure(error) }
        if let error = breaker.refusal() { return .failure(error) }
        let result = await work()
        switch result {
        case .success: breaker.learn(from: nil)
        case .failure(let failure):
            breaker.learn(from: failure)
            pacer.learn(from: failure, about: topic)
        }
        return result.mapError(\.error)
    }
}
