import Synchronization

/// Notices that the process did not run for a while: it was stopped by a signal, its machine was suspended or had no time for it.
///
/// What waited in a socket meanwhile does not tell how old it is, and its sender may have given up, so none of it may be begun.
/// The bus thread looks at its clocks at least every ``interval`` while it serves; a longer gap is a pause.
final class PauseWatch: Sendable {
    /// The most time between two looks of a thread that runs.
    static let interval: Milliseconds = 500
    /// The minimum gap that counts as a pause, in milliseconds. Clients consider a connection lost after two to three seconds of
    /// silence.
    static let minPause: Milliseconds = 1_500

    private let lastLook = Atomic<MonotonicMilliseconds>(.now())
    private let pauses = Atomic<Int>(0)

    /// The number of pauses so far.
    var count: Int { pauses.load(ordering: .acquiring) }

    /// The bus thread has looked at its clocks.
    ///
    /// - Returns: For how long the process did not run, where that is long enough to count, or by how much the wall clock jumped
    ///   ahead, as it does when a machine wakes up. A clock that is set back is no pause.
    func look(from last: BusMoment, to now: BusMoment) -> Milliseconds? {
        lastLook.store(now.monotonic, ordering: .relaxed)
        let elapsed = now.monotonic - last.monotonic
        let jump = Milliseconds(rawValue: now.wall - last.wall) - elapsed
        guard max(elapsed, jump) >= Self.minPause else { return nil }
        pauses.wrappingAdd(1, ordering: .releasing)
        return max(elapsed, jump)
    }

    /// Whether there was a further pause after the given number, including one that the bus thread has not detected yet.
    func hasPaused(since count: Int, now: MonotonicMilliseconds) -> Bool {
        self.count != count || now - lastLook.load(ordering: .relaxed) >= Self.minPause
    }
}
