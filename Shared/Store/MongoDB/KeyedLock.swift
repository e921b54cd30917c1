import DequeModule
import Synchronization

/// A lock for each key, in FIFO order. It avoids conflicts between changes of the same document within one process.
package final class KeyedLock<Key: Hashable & Sendable>: Sendable {
    /// The waiting tasks for each locked key.
    private let waiting = Mutex<[Key: Deque<CheckedContinuation<Void, Never>>]>([:])

    package init() {}

    /// Runs a body while no other body runs with the same key. A cancelled task waits as well.
    package func take<Value>(
        _ key: Key, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
    ) async rethrows -> Value {
        await withCheckedContinuation { continuation in
            let isFirst = waiting.withLock { waiting in
                guard waiting[key] != nil else {
                    waiting[key] = []
                    return true
                }
                waiting[key]?.append(continuation)
                return false
            }
            if isFirst { continuation.resume() }
        }
        defer { next(key)?.resume() }
        return try await body()
    }

    private func next(_ key: Key) -> CheckedContinuation<Void, Never>? {
        waiting.withLock { waiting in
            if let next = waiting[key]?.popFirst() { return next }
            waiting[key] = nil
            return nil
        }
    }
}
