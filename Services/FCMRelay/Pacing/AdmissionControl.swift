import HTTPTransport
import Schemas
import ServiceKit

/// Admits requests to one of Google's services: first the pacer, then the circuit breaker.
struct AdmissionControl: Sendable {
    let pacer: Pacer
    let transport: any HTTPTransport
    let breaker = CircuitBreaker(
        problem: "FCM has failed for the project many times in a row", probeTimeout: DeliveryTimes.circuitProbeTimeout)
    /// `nil` for requests that are not messages.
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
    ///   - isPopUp: Whether it is an Alert's pop-up alone, which goes before everything else that waits.
    ///   - cost: The number of requests that it counts for.
    ///   - key: The key of its message or push.
    ///   - pushArrival: When the push arrived to which it is a group of recipients; `nil` for anything else.
    ///   - deadline: Nothing goes out after it.
    ///   - lastTurn: The same for a send that has to wait; `nil` if it is the same time.
    /// - Returns: `nil` if the send may go out; the caller must then report the outcome to ``leave(_:about:)``, and the end of a
    ///   group to the pacer. Otherwise the reason.
    @inline(__always)
    func enter(
        for topic: FCMTopic?, isAlert: Bool, isPopUp: Bool = false, cost: Int = 1, of key: ObjectID? = nil,
        pushArrival: ContinuousClock.Instant? = nil, by deadline: ContinuousClock.Instant,
        waitingUntil lastTurn: ContinuousClock.Instant? = nil
    ) async -> DeliveryError? {
        let isGroup = pushArrival != nil
        if !pacer.tryTakeTurn(to: topic, isAlert: isAlert, cost: cost, of: key, pushArrival: pushArrival, by: deadline) {
            // A group may wait for the answers of others, which do not come while FCM does not answer.
            if isGroup, let error = breaker.error { return error }
            if let error = await pacer.turn(
                for: topic, isAlert: isAlert, isPopUp: isPopUp, cost: cost, of: key, pushArrival: pushArrival,
                by: lastTurn ?? deadline)
            {
                return error
            }
        }
        // The existing connections may be the cause of the failures.
        let refusal = breaker.refusal(beforeProbe: transport.renewConnections)
        if isGroup, refusal != nil { pacer.endGroup(of: key, cost: cost, isAlert: isAlert) }
        return refusal
    }

    /// Notes failures that affect other sends.
    func leave<Success>(_ results: [Result<Success, SendFailure>], about topic: FCMTopic?) -> [Result<Success, DeliveryError>] {
        let failures = results.compactMap { result in if case .failure(let failure) = result { failure } else { nil } }
        let accepted = results.count - failures.count
        counts?.record(accepted: accepted, failures)
        // Failures of the service first: otherwise an inconclusive failure would start the next probe at once.
        for failure in failures where failure.scope == .service { breaker.learn(from: failure) }
        if accepted > 0 { breaker.learn(from: nil) }
        for failure in failures where failure.scope != .service { breaker.learn(from: failure) }
        for failure in failures { pacer.learn(from: failure, about: topic) }
        if failures.contains(where: { $0.scope == .service }), let error = breaker.error { pacer.circuitOpened(error) }
        return results.map { $0.mapError(\.error) }
    }
}

extension CircuitBreaker {
    /// Notes the outcome of a send.
    fileprivate func learn(from failure: SendFailure?) {
        switch failure?.scope {
        case .service: if let error = failure?.error { failed(error) }
        case .inconclusive: learnedNothing()
        case .message, .topic, .project, nil: answered()
        }
    }
}
