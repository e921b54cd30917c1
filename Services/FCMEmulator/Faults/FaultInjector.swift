import Hummingbird
import NIOCore
import Schemas

/// Does requests, with whatever goes wrong with them.
struct FaultInjector: Sendable {
    let plan: Adjustable<FaultPlan>

    /// Does one request, or lets it fail.
    ///
    /// - Parameters:
    ///   - subject: What the request is about, as far as faults are chosen by it.
    ///   - refuse: An endpoint's own form for an error that was ordered; `nil` where it has none.
    ///   - work: What is to be done; a response that it throws for instead of returning is never lost or delayed.
    /// - Returns: The answer; `nil` where there is none and the connection or stream is gone.
    func perform(
        _ operation: Operation, _ subject: FaultRule.Subject, refuse: (FaultAnswer) -> Response? = { _ in nil },
        _ work: () async throws -> Response
    ) async throws -> Response? {
        let incident = plan.withLock { $0.isEmpty ? nil : $0.next(operation, subject) }
        guard let incident else { return await isTaken() ? try await work() : nil }
        if let delay = incident.delay, !(try await Self.pause(delay)) { throw GoogleError.stopping }
        guard var response = try await answer(to: operation, subject, incident.fault, refuse, work) else { return nil }
        // What is done is answered, a little early if the server stops.
        if let delay = incident.replyDelay { _ = try await Self.pause(delay) }
        if let time = incident.bodyTime { response.body = response.body.dripping(within: time) }
        return response
    }

    private func answer(
        to operation: Operation, _ subject: FaultRule.Subject, _ fault: Fault?, _ refuse: (FaultAnswer) -> Response?,
        _ work: () async throws -> Response
    ) async throws -> Response? {
        // Before anything else that could make a connection leave: whether this request was done is part of what it says.
        if case .goAwayUndone(let reason) = fault {
            await Exchange.current?.goAwayUntaken(because: reason)
            return nil
        }
        guard await isTaken() else { return nil }
        switch fault {
        case .answer(let answer):
            return refuse(answer) ?? answer.response(to: operation, subject, now: .now())
        case .breakOff(let end):
            await Exchange.current?.end(by: end)
            return nil
        case .loseReply(let end):
            _ = try await work()
            await Exchange.current?.end(by: end)
            return nil
        case .goAway(let reason):
            await Exchange.current?.goAway(because: reason)
            var response = try await work()
            // HTTP/1.1 has this word for it.
            if Exchange.current?.stream == nil { response.headers[.connection] = "close" }
            return response
        case nil, .delay, .delayReply, .slowBody, .goAwayUndone:
            return try await work()
        }
    }

    /// Whether the request may be done: its connection may have been told to leave in the meantime.
    private func isTaken() async -> Bool {
        await Exchange.current?.take() ?? true
    }

    /// Waits, but hardly longer than the server runs.
    ///
    /// - Returns: Whether it waited to the end.
    private static func pause(_ duration: Duration) async throws -> Bool {
        // Short waits, of which a load test has many, do without the price of an interruption.
        guard duration <= .seconds(1) else { return try await InterruptiblePause.wait(duration) }
        try await Task.sleep(for: duration)
        return true
    }
}

extension GoogleError {
    /// For a request that was held back until the server stopped, and is not done.
    fileprivate static let stopping = GoogleError.fcm(.unavailable, "The service is currently unavailable.")
}

extension Exchange {
    fileprivate func end(by end: Fault.Break) async {
        switch end {
        case .resetStream(let code): await resetStream(code)
        case .closeConnection: await closeConnection()
        case .cutConnection: await cutConnection()
        }
    }
}

extension Response {
    /// What the server is given where there is nobody left to answer.
    static let unheard = Response(status: .internalServerError)
}
