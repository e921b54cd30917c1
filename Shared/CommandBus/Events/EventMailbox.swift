import Synchronization

/// Passes events from the bus thread to the task that consumes them.
final class EventMailbox: Sendable {
    private struct State {
        var queue: EventQueue
        var taker: CheckedContinuation<BusEvent?, Never>?
        var isFinished = false
    }

    private let state: Mutex<State>

    init(capacity: Int) {
        state = Mutex(State(queue: EventQueue(capacity: capacity)))
    }

    func put(_ event: BusEvent) {
        let taker = state.withLock { state -> CheckedContinuation<BusEvent?, Never>? in
            guard !state.isFinished else { return nil }
            if let taker = state.taker {
                state.taker = nil
                return taker
            }
            state.queue.append(event)
            return nil
        }
        taker?.resume(returning: event)
    }

    /// Waits for the next event; `nil` at the end, after all earlier events.
    func take() async -> BusEvent? {
        await withCheckedContinuation { continuation in
            // Only one task may wait. If a second one comes, the first one's stream ends.
            let (ready, displaced): (BusEvent??, CheckedContinuation<BusEvent?, Never>?) = state.withLock { state in
                if let event = state.queue.next() { return (.some(event), nil) }
                if state.isFinished { return (.some(nil), nil) }
                defer { state.taker = continuation }
                return (nil, state.taker)
            }
            displaced?.resume(returning: nil)
            if let ready { continuation.resume(returning: ready) }
        }
    }

    func finish() {
        let taker = state.withLock { state in
            state.isFinished = true
            defer { state.taker = nil }
            return state.taker
        }
        taker?.resume(returning: nil)
    }
}
