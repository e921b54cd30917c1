import FoundationEssentials
import MobileApp
import Synchronization

/// A clock that stands still until a test advances it, in a time zone that the test chooses.
final class TestClock: DeviceClock {
    private struct State {
        var now: Int64
        var sleepers: [(end: Int64, id: Int, continuation: CheckedContinuation<Void, any Error>)] = []
        var cancelled: Set<Int> = []
        var lastID = 0
    }

    private let state: Mutex<State>
    private let offsets: @Sendable (Int64) -> Int

    /// - Parameters:
    ///   - now: Unix milliseconds; by default 2026-11-24 12:00 UTC.
    ///   - offset: The offset from UTC in seconds at a moment.
    init(now: Int64 = 1_795_521_600_000, offset: @escaping @Sendable (Int64) -> Int = { _ in 0 }) {
        state = Mutex(State(now: now))
        offsets = offset
    }

    var now: Int64 { state.withLock { $0.now } }

    /// Until when tasks wait, in Unix milliseconds.
    var wakeTimes: [Int64] { state.withLock { $0.sleepers.map(\.end) } }

    func offset(at moment: Int64) -> Int { offsets(moment) }

    func sleep(for duration: Duration) async throws {
        let milliseconds = duration.components.seconds * 1_000 + duration.components.attoseconds / 1_000_000_000_000_000
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isCancelled = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return true }
                    state.sleepers.append((state.now + milliseconds, id, continuation))
                    return false
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                let index = state.sleepers.firstIndex { $0.id == id }
                if index == nil { state.cancelled.insert(id) }
                return index.map { state.sleepers.remove(at: $0) }
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    func advance(by seconds: Int64) { change { $0 + seconds * 1_000 } }

    /// Sets the clock to a moment in Unix milliseconds, which may be an earlier one.
    func set(_ moment: Int64) { change { _ in moment } }

    private func change(_ time: (Int64) -> Int64) {
        let woken = state.withLock { state in
            state.now = time(state.now)
            let now = state.now
            let woken = state.sleepers.filter { $0.end <= now }
            state.sleepers.removeAll { $0.end <= now }
            return woken
        }
        for sleeper in woken { sleeper.continuation.resume() }
    }
}

/// A moment such as `2026-11-24T12:00:00Z`, in Unix milliseconds.
func milliseconds(_ text: String) -> Int64 {
    guard let date = try? Date(text, strategy: .iso8601) else { preconditionFailure("not a moment: \(text)") }
    return Int64(date.timeIntervalSince1970 * 1_000)
}
