import CoreMetrics
import DequeModule
import GRDB
import Synchronization

/// Runs writes one after another on the pool's writer, and commits waiting writes together: a durable commit costs one sync of
/// the disk, for one write or hundreds.
final class GroupCommit: Sendable {
    /// One write of a commit.
    private struct Write: Sendable {
        /// Runs it in a savepoint, and returns a function to call with the result of the shared commit.
        let run: @Sendable (Database) -> @Sendable (Result<Void, any Error>) -> Void
        /// Fails it without running it.
        let fail: @Sendable (any Error) -> Void
    }

    private struct State {
        var waiting: Deque<Write> = []
        /// Since when the writer has been at its current commit, or was asked to begin; `nil` if it has nothing to do.
        var busySince: ContinuousClock.Instant?
    }

    /// Keeps a commit, and the wait for it, short.
    private static let maxPerCommit = 500

    private let pool: DatabasePool
    /// How many writes each commit has.
    private let sizes: Recorder
    private let state = Mutex(State())
    private let changes = Atomic<Int>(0)

    init(pool: DatabasePool, sizes: Recorder) {
        self.pool = pool
        self.sizes = sizes
    }

    /// Since when the writer has been at its current commit; `nil` if it has nothing to do.
    var busySince: ContinuousClock.Instant? { state.withLock { $0.busySince } }

    /// The number of commits that have changed something, including one whose writers do not know of it yet.
    var count: Int { changes.load(ordering: .acquiring) }

    func write<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            enqueue(
                Write(
                    run: { database in
                        let result = Result { try Self.inSavepoint(of: database, body) }
                        return { commit in
                            // Its own error is more specific than the commit's.
                            continuation.resume(with: result.flatMap { value in commit.map { value } })
                        }
                    },
                    fail: { error in continuation.resume(throwing: error) }))
        }
    }

    private func enqueue(_ write: Write) {
        let mustDrain = state.withLock { state in
            state.waiting.append(write)
            guard state.busySince == nil else { return false }
            state.busySince = .now
            return true
        }
        if mustDrain {
            pool.asyncWriteWithoutTransaction { database in self.drain(into: database) }
        }
    }

    /// Commits waiting writes batch by batch until none are left.
    private func drain(into database: Database) {
        while case let batch = nextBatch(), !batch.isEmpty {
            sizes.record(batch.count)
            var completions: [@Sendable (Result<Void, any Error>) -> Void] = []
            let before = database.totalChangesCount
            let commit = Result {
                try database.inTransaction(.immediate) {
                    for write in batch {
                        completions.append(write.run(database))
                        // A full disk or an I/O error rolls back the whole transaction, despite the savepoint.
                        guard database.isInsideTransaction else {
                            throw DatabaseError(
                                resultCode: .SQLITE_ABORT, message: "another write of the same transaction failed")
                        }
                    }
                    return .commit
                }
            }
            if database.totalChangesCount != before { changes.add(1, ordering: .releasing) }
            for completion in completions {
                completion(commit)
            }
            if case .failure(let error) = commit {
                for write in batch.dropFirst(completions.count) { write.fail(error) }
            }
        }
    }

    private func nextBatch() -> [Write] {
        state.withLock { state in
            let batch = Array(state.waiting.prefix(Self.maxPerCommit))
            state.waiting.removeFirst(batch.count)
            state.busySince = batch.isEmpty ? nil : .now
            return batch
        }
    }

    private static func inSavepoint<Value>(of database: Database, _ body: (Database) throws -> Value) throws -> Value {
        var value: Value?
        try database.inSavepoint {
            value = try body(database)
            return .commit
        }
        guard let value else { throw DatabaseError(resultCode: .SQLITE_INTERNAL) }
        return value
    }
}
