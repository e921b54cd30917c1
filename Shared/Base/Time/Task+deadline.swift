extension Task where Failure == Never {
    /// Waits for the task, but not beyond a deadline. The task continues.
    ///
    /// - Returns: Whether the task has ended.
    package func finishes(by deadline: ContinuousClock.Instant) async -> Bool {
        let (ends, end) = AsyncStream<Bool>.makeStream()
        let finished = Task<Void, Never> {
            _ = await self.value
            end.yield(true)
        }
        let timer = Task<Void, Never> {
            if (try? await ContinuousClock().sleep(until: deadline)) != nil { end.yield(false) }
        }
        defer {
            finished.cancel()
            timer.cancel()
        }
        return await ends.first { _ in true } ?? false
    }
}
