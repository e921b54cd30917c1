import DequeModule
import Schemas

/// Few bodies run at once, and the others wait in their order: phones are patient, and posts that go to the same service are not.
actor QueryTurns {
    private let maxRunning: Int
    private let maxWaiting: Int
    /// Who waits longer gets an error. Otherwise everybody would wait for a service that does not answer, one after another.
    private let maxWait: Duration
    private var running = 0
    private var waiting: Deque<CheckedContinuation<Void, Never>> = []

    /// How many bodies wait.
    var waitingCount: Int { waiting.count }

    init(maxRunning: Int, maxWaiting: Int, maxWait: Duration) {
        self.maxRunning = maxRunning
        self.maxWaiting = maxWaiting
        self.maxWait = maxWait
    }

    /// - Throws: ``CommandFailure`` with status `overloaded` if too many wait, or the error of the body.
    nonisolated func take<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
        try await begin()
        do {
            let value = try await body()
            await end()
            return value
        } catch {
            await end()
            throw error
        }
    }

    private func begin() async throws(CommandFailure) {
        guard running >= maxRunning else {
            running += 1
            return
        }
        guard waiting.count < maxWaiting else { throw .tooManyPhones }
        let begin = ContinuousClock.now
        // Who ends passes the turn on, so the number of those that run stays.
        await withCheckedContinuation { waiting.append($0) }
        guard ContinuousClock.now - begin <= maxWait else {
            end()
            throw .tooManyPhones
        }
    }

    private func end() {
        if let next = waiting.popFirst() { next.resume() } else { running -= 1 }
    }
}

extension CommandFailure {
    fileprivate static let tooManyPhones = CommandFailure(.overloaded, "too many phones ask at once; try again later")
}
