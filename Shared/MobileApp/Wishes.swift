import Synchronization

/// Wishes that the app looks at the hub before its time. A wish that nobody waits for is kept, and several are one.
final class Wishes: Sendable {
    enum Wish: Int, Sendable {
        /// A text is missing. Many phones learn of it at the same moment.
        case soon
        /// The phone is online again, or the person asks.
        case now
    }

    private struct State {
        var made: Wish?
        var waiter: AsyncStream<Wish>.Continuation?
    }

    private let state = Mutex(State())

    func make(_ wish: Wish) {
        let waiter = state.withLock { state in
            defer { state.waiter = nil }
            if state.waiter == nil { state.made = [state.made, wish].compactMap(\.self).max { $0.rawValue < $1.rawValue } }
            return state.waiter
        }
        waiter?.yield(wish)
    }

    /// Waits for the next wish. One task may wait at a time.
    ///
    /// - Returns: `nil` if the task was cancelled.
    func next() async -> Wish? {
        let (stream, continuation) = AsyncStream<Wish>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let made = state.withLock { state -> Wish? in
            defer { state.made = nil }
            if state.made == nil { state.waiter = continuation }
            return state.made
        }
        if let made { return made }
        for await wish in stream { return wish }
        return nil
    }
}
