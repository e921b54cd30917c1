import Synchronization

/// Reports slow operations, which may show a frozen server long before the socket's timeout.
final class SlowOperationWatch: Sendable {
    private struct State {
        var began: [Int: ContinuousClock.Instant] = [:]
        var lastNumber = 0
        var isWatched = false
    }

    private static let slowAfter = Duration.seconds(2)
    private static let pauseBetweenLooks = Duration.milliseconds(500)

    private let state = Mutex(State())

    /// Runs an operation.
    ///
    /// - Parameter doubt: Called repeatedly while any operation takes longer than 2 s.
    func watch<Value>(doubt: @escaping @Sendable () -> Void, _ body: () throws -> Value) rethrows -> Value {
        let (number, isFirst) = state.withLock { state in
            state.lastNumber += 1
            state.began[state.lastNumber] = .now
            defer { state.isWatched = true }
            return (state.lastNumber, !state.isWatched)
        }
        if isFirst { Task { try await checkUntilIdle(doubt) } }
        defer { state.withLock { $0.began[number] = nil } }
        return try body()
    }

    /// Checks until no operation is running.
    private func checkUntilIdle(_ doubt: @Sendable () -> Void) async throws {
        while state.withLock({ state in
            state.isWatched = !state.began.isEmpty
            return state.isWatched
        }) {
            try await Task.sleep(for: Self.pauseBetweenLooks)
            let isOverdue = state.withLock { state in
                state.began.values.contains { ContinuousClock.now - $0 > Self.slowAfter }
            }
            if isOverdue { doubt() }
        }
    }
}
