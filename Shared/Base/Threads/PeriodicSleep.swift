import Synchronization

extension Task where Success == Never, Failure == Never {
    /// Sleeps until the next multiple of a period since the start of the machine, so that periodic work wakes the machine up at the
    /// same moments. An idle process is woken up once for all such work, and not once for each.
    ///
    /// - Throws: `CancellationError`.
    package static func sleep(untilNext period: Duration) async throws {
        let clock = ContinuousClock()
        let start = clock.systemEpoch
        let moment = start + period.nextMultiple(after: clock.now - start)
        if await PeriodicSleeps.shared.sleep(until: moment) { return try checkCancellation() }
        try await sleep(until: moment, clock: clock)
    }
}

extension Duration {
    /// The next multiple of this period, or the one after that if the next one is less than a tenth of the period away: a timer may
    /// fire a little early.
    func nextMultiple(after time: Duration) -> Duration {
        let next = self * (Int64(time / self) + 1)
        return next - time < self / 10 ? next + self : next
    }
}

/// All periodic sleeps of the process, on one thread. Each timer of Swift concurrency wakes up several threads: when it is set, when it
/// fires, and for its task.
private final class PeriodicSleeps: Sendable {
    static let shared = PeriodicSleeps()

    private struct State {
        /// The sleepers by the ends of their sleeps.
        var sleepers: [ContinuousClock.Instant: [PeriodicSleeper]] = [:]
        /// The end of the thread's present wait.
        var next: ContinuousClock.Instant?
        var isRunning = false
    }

    private let state = Mutex(State())
    /// `nil` if it could not be made. Then there is no thread.
    private let isEarlier = WakeUp()
    /// The thread looks at the clock at least this often, since the machine may be suspended while it waits.
    private static let maxWait = Duration.seconds(15)

    /// - Returns: `false` if the system cannot start the thread. A cancelled sleep ends at once.
    func sleep(until moment: ContinuousClock.Instant) async -> Bool {
        guard isThreadRunning() else { return false }
        let sleeper = PeriodicSleeper()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard sleeper.begin(continuation) else { return }
                let isEarliest = state.withLock { state in
                    state.sleepers[moment, default: []].append(sleeper)
                    guard let next = state.next, moment < next else { return false }
                    state.next = moment
                    return true
                }
                if isEarliest { isEarlier?.signal() }
            }
        } onCancel: {
            sleeper.end()
        }
        return true
    }

    private func isThreadRunning() -> Bool {
        guard let isEarlier else { return false }
        return state.withLock { state in
            if state.isRunning { return true }
            do {
                try DedicatedThread.start { self.run(isEarlier) }
                state.isRunning = true
            } catch {
                // The next sleep tries again.
                return false
            }
            return true
        }
    }

    private func run(_ isEarlier: WakeUp) {
        while true {
            let (due, wait) = state.withLock { state -> ([PeriodicSleeper], Duration) in
                let now = ContinuousClock.now
                var due: [PeriodicSleeper] = []
                for moment in state.sleepers.keys where moment <= now { due += state.sleepers.removeValue(forKey: moment) ?? [] }
                let next = min(state.sleepers.keys.min() ?? now + Self.maxWait, now + Self.maxWait)
                state.next = next
                return (due, next - now)
            }
            for sleeper in due { sleeper.end() }
            _ = isEarlier.wait(for: wait)
        }
    }
}

/// A sleep, which ends once: by the clock or by the cancellation of its task.
private final class PeriodicSleeper: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Void, Never>?
        var hasEnded = false
    }

    private let state = Mutex(State())

    /// - Returns: Whether the sleep has not ended already.
    func begin(_ continuation: CheckedContinuation<Void, Never>) -> Bool {
        let hasEnded = state.withLock { state in
            if !state.hasEnded { state.continuation = continuation }
            return state.hasEnded
        }
        if hasEnded { continuation.resume() }
        return !hasEnded
    }

    func end() {
        let continuation = state.withLock { state in
            state.hasEnded = true
            return state.continuation.take()
        }
        continuation?.resume()
    }
}
