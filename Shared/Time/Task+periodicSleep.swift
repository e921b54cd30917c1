extension Task where Success == Never, Failure == Never {
    /// Sleeps until the next multiple of a period since the start of the machine, so that periodic work wakes the machine up at the
    /// same moments. An idle process is woken up once for all such work, and not once for each.
    ///
    /// - Throws: `CancellationError`.
    package static func sleep(untilNext period: Duration) async throws {
        let clock = ContinuousClock()
        let start = clock.systemEpoch
        // An exact time: a pause from now on would end at a slightly different moment for each task.
        try await sleep(until: start + period.nextMultiple(after: clock.now - start), clock: clock)
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
