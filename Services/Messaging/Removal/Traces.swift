import Base
import Logging
import Schemas
import ServiceKit
import ServiceLifecycle
import Store
import Synchronization

/// Removes the traces of what was removed from the files of the store, a few seconds later: then those of several removals go at
/// once.
final class Traces: Service {
    private let store: Storage
    private let delay: Duration
    private let pause: Duration
    private let outage: OutageLog
    private let state: Mutex<State>

    private struct State {
        /// Since when there are some; `nil` for none.
        var since: ContinuousClock.Instant?
        /// When something was last removed.
        var latest: ContinuousClock.Instant
    }

    private static let period = Duration.seconds(1)

    /// - Parameters:
    ///   - delay: How long the traces of the first removal stay.
    ///   - pause: The time after a failure: a backup may read for minutes, and needs the write-ahead log.
    init(of store: Storage, delay: Duration = .seconds(10), pause: Duration = .seconds(5), logger: Logger) {
        self.store = store
        self.delay = delay
        self.pause = pause
        outage = OutageLog("traces of removed messages stay in the files for now", logger: logger)
        // A service that was killed may have left some.
        let begun = ContinuousClock.now - delay
        state = Mutex(State(since: begun, latest: begun))
    }

    /// Something was removed.
    func removed() {
        let now = ContinuousClock.now
        state.withLock { state in
            if state.since == nil { state.since = now }
            state.latest = now
        }
    }

    /// For how long their removal is overdue; 0 for nothing.
    var overdue: Milliseconds {
        guard let since = state.withLock(\.since) else { return .zero }
        return max(.zero, Milliseconds(ContinuousClock.now - since - delay))
    }

    func run() async {
        await RepeatingService(every: Self.period, retries: .constant(pause), outage: outage) { [self] in
            try await round()
        }.run()
    }

    private func round() async throws {
        let now = ContinuousClock.now
        guard let since = state.withLock(\.since), since + delay <= now else { return }
        try await store.removeTraces()
        // What was removed in between may have left some again.
        state.withLock { $0.since = $0.latest >= now ? $0.latest : nil }
    }
}
