/// A value that is read on demand and kept for a while.
///
/// Simultaneous readers share one request. A failure is kept for a few seconds, so that a service that does not answer is not asked
/// by each caller.
actor SharedReading<Value: Sendable> {
    private let failureLifetime: Duration
    private let read: @Sendable () async throws -> Value
    private var latest: (value: Value, read: ContinuousClock.Instant)?
    private var failure: (error: any Error, at: ContinuousClock.Instant)?
    private var reading: Task<Value, any Error>?

    /// - Parameter read: Reads the value. It must end within a bounded time.
    init(failureLifetime: Duration, _ read: @escaping @Sendable () async throws -> Value) {
        self.failureLifetime = failureLifetime
        self.read = read
    }

    /// - Parameter maxAge: An older value is read again.
    /// - Throws: The error of the reading.
    func value(maxAge: Duration) async throws -> Value {
        if let latest, latest.read + maxAge > .now { return latest.value }
        if let failure, failure.at + failureLifetime > .now { throw failure.error }
        if let reading { return try await reading.value }
        let task = Task { [read] in try await read() }
        reading = task
        let result = await task.result
        reading = nil
        switch result {
        case .success(let value): latest = (value, .now)
        case .failure(let error): failure = (error, .now)
        }
        return try result.get()
    }
}
