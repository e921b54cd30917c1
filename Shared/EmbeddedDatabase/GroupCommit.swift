import CoreMetrics
import DequeModule
import GRDB
import Schemas
import StoreHealth
import Synchronization

/// Runs writes one after another on the pool's writer, and commits waiting writes together: a durable commit costs one sync of
/// the disk, for one write or hundreds.
final class GroupCommit: Sendable {
    /// A write that has run, and is not committed yet.
    private struct Ran: Sendable {
        /// Why it failed.
        let error: (any Error)?
        /// Ends it with the result of the shared commit.
        let complete: @Sendable (Result<Void, any Error>) -> Void
    }

    /// One write of a commit.
    private struct Write: Sendable {
        /// Runs it in a savepoint.
        let run: @Sendable (Database) -> Ran
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
    private let health: WriteHealth
    private let state = Mutex(State())
    private let changes = Atomic<Int>(0)

    init(pool: DatabasePool, sizes: Recorder, health: WriteHealth) {
        self.pool = pool
        self.sizes = sizes
        self.health = health
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
                        return Ran(error: result.error) { commit in
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
            var ran: [Ran] = []
            let before = database.totalChangesCount
            let commit = Result {
                try database.inTransaction(.immediate) {
                    for write in batch {
                        ran.append(write.run(database))
                        // A full disk or an I/O error rolls back the whole transaction, despite the savepoint.
                        guard database.isInsideTransaction else {
                            throw DatabaseError(
                                resultCode: .SQLITE_ABORT, message: "another write of the same transaction failed")
                        }
                    }
                    return .commit
                }
            }
            let hasChanged = database.totalChangesCount != before
            if hasChanged { changes.add(1, ordering: .releasing) }
            // Before the callers know: whoever then asks for the health must see it.
            report(ran.compactMap(\.error) + [commit.error].compactMap(\.self), hasChanged: hasChanged)
            for write in ran { write.complete(commit) }
            if case .failure(let error) = commit {
                for write in batch.dropFirst(ran.count) { write.fail(error) }
            }
        }
    }

    /// Reports the outcome of a commit. One that has written nothing says nothing about the disk, and an error of a write itself nothing
    /// about the others.
    private func report(_ errors: [any Error], hasChanged: Bool) {
        if let failure = errors.lazy.compactMap({ ($0 as? DatabaseError)?.failure as? CommandFailure }).first {
            health.ended(failure)
        } else if hasChanged {
            health.ended(nil)
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

extension Result {
    fileprivate var error: Failure? {
        guard case .failure(let error) = self else { return nil }
        return error
    }
}
