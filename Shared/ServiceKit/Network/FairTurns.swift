import Schemas
import Time

/// Few bodies run at once, and the others wait. The networks of the clients take turns, so that one with any number of addresses, in
/// requests that need no sign-in, cannot keep the others waiting (``FairQueue``).
package actor FairTurns {
    private let maxRunning: Int
    /// Who waits longer gets an error. Otherwise everybody would wait for a service that does not answer, one after another.
    private let maxWait: Duration
    private let refusal: CommandFailure
    private var running = 0
    private var waiting: FairQueue<CheckedContinuation<Bool, Never>>

    /// How many bodies wait.
    package var waitingCount: Int { waiting.count }

    /// - Parameter refusal: The message for those who find no place, or wait too long.
    package init(maxRunning: Int, maxWaiting: Int, maxWait: Duration, refusal: String) {
        self.maxRunning = maxRunning
        self.maxWait = maxWait
        self.refusal = CommandFailure(.overloaded, refusal, retryAfter: .seconds(1))
        waiting = FairQueue(maxWaiting: maxWaiting)
    }

    /// - Parameter client: The client's address; all without one count as one network.
    /// - Throws: ``CommandFailure`` with status `overloaded` if too many wait, or the error of the body.
    package nonisolated func take<Value: Sendable>(
        for client: IPAddress?, _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        try await begin(client)
        do {
            let value = try await body()
            await end()
            return value
        } catch {
            await end()
            throw error
        }
    }

    private func begin(_ client: IPAddress?) async throws(CommandFailure) {
        guard running >= maxRunning else {
            running += 1
            return
        }
        let begin = ContinuousClock.now
        // Who ends passes the turn on, so the number of those that run stays.
        let hasTurn = await withCheckedContinuation { waiting.add($0, from: client)?.resume(returning: false) }
        guard hasTurn else { throw refusal }
        guard ContinuousClock.now - begin <= maxWait else {
            end()
            throw refusal
        }
    }

    private func end() {
        if let next = waiting.next() { next.resume(returning: true) } else { running -= 1 }
    }
}
