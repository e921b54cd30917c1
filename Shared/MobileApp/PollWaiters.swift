import Synchronization

/// Callers that wait for the outcome of a poll of the hub.
final class PollWaiters: Sendable {
    typealias Waiter = AsyncThrowingStream<Void, any Error>.Continuation

    /// `nil` while the app does not run.
    private let waiting = Mutex<[Waiter]?>(nil)

    func begin() { waiting.withLock { $0 = [] } }

    /// Waits for the end of a poll that starts from now on.
    ///
    /// - Parameter request: Called as soon as it waits.
    /// - Throws: ``MobileApp/NotRunning``, the error of the poll, or `CancellationError`.
    func wait(_ request: () -> Void) async throws {
        let (outcome, waiter) = AsyncThrowingStream<Void, any Error>.makeStream()
        guard waiting.withLock({ $0?.append(waiter) }) != nil else { throw MobileApp.NotRunning() }
        request()
        for try await _ in outcome {}
        try Task.checkCancellation()
    }

    /// Callers waiting for the poll that starts now.
    func take() -> [Waiter] {
        waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting ?? []
        }
    }

    func end() {
        let last = waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting ?? []
        }
        for waiter in last { waiter.finish(throwing: MobileApp.NotRunning()) }
    }
}
