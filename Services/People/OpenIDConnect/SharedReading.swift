import Base

/// How long the service waits for a provider, and how often it asks.
struct ProviderTimes {
    /// For a request with its whole answer.
    var request = Duration.seconds(5)
    /// How long a failure to read the metadata or the keys is cached.
    var failureLifetime = Duration.seconds(3)
    /// How long keys are kept. One that the provider has withdrawn counts for so long.
    var keyLifetime = Duration.seconds(600)
    /// Keys with unknown identifiers do not cause more than one request in this time.
    var minKeyAge = Duration.seconds(60)
}

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

    /// How long ago the latest value was read; `nil` before the first one.
    var age: Duration? { latest.map { .now - $0.read } }

    /// - Parameters:
    ///   - maxAge: An older value is read again.
    ///   - limit: If it cannot be read, the latest value up to this age takes its place.
    /// - Throws: The error of the reading.
    func value(maxAge: Duration, orAtMost limit: Duration = .zero) async throws -> Value {
        do {
            return try await current(maxAge: maxAge)
        } catch {
            guard let latest, latest.read + limit > .now else { throw error }
            return latest.value
        }
    }

    private func current(maxAge: Duration) async throws -> Value {
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
