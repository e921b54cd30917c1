import Synchronization

/// What is read again and again, such as once a second, with the same result most of the time. It is only read if the database may
/// have changed: each read wakes up threads.
package final class RepeatedRead<Value: Sendable>: Sendable {
    private struct Known {
        let value: Value
        let revision: DatabaseRevision
        let read: ContinuousClock.Instant
    }

    /// Then it is read again in any case. Another process shows its commit to readers only after it has synced the write-ahead log, so a
    /// revision that is taken in between remains the same although the content changes.
    private static var maxAge: Duration { .seconds(2) }

    private let isReusable: @Sendable (Value) -> Bool
    private let known = Mutex<Known?>(nil)

    /// - Parameter isReusable: Whether a result may be used again. Another one is not kept.
    package init(reusing isReusable: @escaping @Sendable (Value) -> Bool = { _ in true }) {
        self.isReusable = isReusable
    }

    /// The result for the present content of the database.
    ///
    /// - Parameters:
    ///   - revision: The database's revision before the call; `nil` if it has none, as MongoDB, so that it is always read.
    ///   - read: Reads it.
    package func value(
        at revision: DatabaseRevision?, now: ContinuousClock.Instant = .now, _ read: () async throws -> Value
    ) async throws -> Value {
        guard let revision else { return try await read() }
        if let known = value(at: revision, now: now) { return known }
        let value = try await read()
        keep(value, at: revision, now: now)
        return value
    }

    /// The kept result; `nil` if it may have changed.
    package func value(at revision: DatabaseRevision, now: ContinuousClock.Instant = .now) -> Value? {
        guard let known = known.withLock(\.self), known.revision == revision, now - known.read < Self.maxAge else { return nil }
        return known.value
    }

    /// Keeps a result that was read after the database had a revision.
    package func keep(_ value: Value, at revision: DatabaseRevision, now: ContinuousClock.Instant = .now) {
        known.withLock { $0 = isReusable(value) ? Known(value: value, revision: revision, read: now) : nil }
    }
}
