import Base
import Synchronization

/// A read that repeats, such as once a second, mostly with the same result. The database is read only if it may have changed, since
/// each read wakes up threads.
package final class RepeatedRead<Value: Sendable>: Sendable {
    private struct Known {
        let value: Value
        let revision: DatabaseRevision
        let read: ContinuousClock.Instant
    }

    /// The maximum age of a kept result. Another process shows its commit to readers only after it has synced the write-ahead log, so a
    /// revision that is taken in between remains the same although the content changes.
    private static var maxAge: Duration { .seconds(2) }

    private let known = Mutex<Known?>(nil)

    package init() {}

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
        known.withLock { $0 = Known(value: value, revision: revision, read: now) }
    }
}

/// Changes with each commit to a database, of this process or another one. Two equal revisions mean the same content, except for a
/// commit of another process within one tick of the file system's clock.
package struct DatabaseRevision: Hashable, Sendable {
    /// The number of this process's commits.
    let commits: Int
    let file: FileStamp?
    let log: FileStamp?
}
