import Synchronization

/// Tells watchers that something has changed. Several changes before a watcher looks are one.
final class Changes: Sendable {
    private struct State {
        var last = 0
        var watchers: [Int: AsyncStream<Void>.Continuation] = [:]
    }

    private let state = Mutex(State())

    func tell() {
        for watcher in state.withLock({ Array($0.watchers.values) }) { watcher.yield() }
    }

    /// Its first element comes at once.
    func watch() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let id = state.withLock { state in
            state.last += 1
            state.watchers[state.last] = continuation
            return state.last
        }
        continuation.onTermination = { [weak self] _ in _ = self?.state.withLock { $0.watchers.removeValue(forKey: id) } }
        continuation.yield()
        return stream
    }
}
