import Schemas
import Synchronization
import Time

/// Detects pauses of the process: it was stopped by a signal, its machine was suspended, or it got no CPU time.
///
/// The age of a request that waited in a socket meanwhile is unknown, and its sender may have given up. So such a request must
/// not be begun. The bus thread reads its clocks at least every ``interval`` while it serves. A longer gap is a pause.
final class PauseWatch: Sendable {
    /// The maximum interval between two clock readings of a running thread.
    static let interval: Milliseconds = 500
    /// ``BusTimes/minPause`` as a constant, since it is compared for each request.
    static let minPause: Milliseconds = 1_500

    private let lastLook = Atomic<MonotonicMilliseconds>(.now())
    private let pauses = Atomic<Int>(0)

    /// The number of pauses so far.
    var count: Int { pauses.load(ordering: .acquiring) }

    /// The bus thread has read its clocks.
    ///
    /// - Returns: The pause, if it is long enough to count. A jump of the wall clock ahead, as after a machine's suspension,
    ///   counts as well. A step back does not.
    func detectPause(from last: ClockReading, to now: ClockReading) -> Milliseconds? {
        lastLook.store(now.monotonic, ordering: .relaxed)
        let elapsed = now.monotonic - last.monotonic
        let jump = now.wall - last.wall - elapsed
        guard max(elapsed, jump) >= Self.minPause else { return nil }
        pauses.wrappingAdd(1, ordering: .releasing)
        return max(elapsed, jump)
    }

    /// Whether there was a further pause after the given number, including one that the bus thread has not detected yet.
    func hasPaused(since count: Int, now: MonotonicMilliseconds) -> Bool {
        self.count != count || now - lastLook.load(ordering: .relaxed) >= Self.minPause
    }
}
