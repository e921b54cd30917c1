import Synchronization

/// Requests that the app looks at the hub before its time. A request is kept until the app waits for one; several count as one.
final class RefreshRequests: Sendable {
    enum Urgency: Int, Comparable, Sendable {
        /// A text is missing. Many phones learn of it at the same moment.
        case soon
        /// The phone is online again, or the person asks.
        case now

        static func < (one: Urgency, other: Urgency) -> Bool { one.rawValue < other.rawValue }
    }

    private struct State {
        var pending: Urgency?
        var waiter: AsyncStream<Urgency>.Continuation?
    }

    private let state = Mutex(State())

    func add(_ urgency: Urgency) {
        let waiter = state.withLock { state in
            defer { state.waiter = nil }
            if state.waiter == nil {
                state.pending = [state.pending, urgency].compactMap(\.self).max()
            }
            return state.waiter
        }
        waiter?.yield(urgency)
    }

    /// Waits for the next request. One task may wait at a time.
    ///
    /// - Returns: `nil` if the task was cancelled.
    func next() async -> Urgency? {
        let (stream, continuation) = AsyncStream<Urgency>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let pending = state.withLock { state -> Urgency? in
            defer { state.pending = nil }
            if state.pending == nil { state.waiter = continuation }
            return state.pending
        }
        if let pending { return pending }
        for await urgency in stream { return urgency }
        // Cancelled: a request that comes before the next wait is kept.
        state.withLock { $0.waiter = nil }
        return nil
    }
}
