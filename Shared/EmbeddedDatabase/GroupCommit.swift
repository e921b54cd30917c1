import DequeModule
import GRDB
import Synchronization

/// Runs writes one after another on the pool's writer, and commits all that wait together at once: the cost of a durable
/// commit is one sync of the disk, whether it carries one write or hundreds.
final class GroupCommit: Sendable {
    /// One write, as seen by the commit that carries it.
    private struct Write: Sendable {
        /// Runs it in a savepoint, and returns what is to be done once the shared commit has succeeded or failed.
        let run: @Sendable (Database) -> @Sendable (Result<Void, any Error>) -> Void
        /// Ends it without having run it.
        let fail: @Sendable (any Error) -> Void
    }

    private struct State {
        var waiting: Deque<Write> = []
        var isDraining = false
    }

    /// So that one commit, and the wait for it, stays short.
    private static let maxPerCommit = 500

    private let pool: DatabasePool
    private let state = Mutex(State())

    init(pool: DatabasePool) {
        self.pool = pool
    }

    func write<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            enqueue(
                Write(
                    run: { database in
                        let result = Result { try Self.inSavepoint(of: database, body) }
                        return { commit in
                            // Its own error says more than the commit's.
                            continuation.resume(with: result.flatMap { value in commit.map { value } })
                        }
                    },
                    fail: { error in continuation.resume(throwing: error) }))
        }
    }

    private func enqueue(_ write: Write) {
        let mustDrain = state.withLock { state in
            state.waiting.append(write)
            defer { state.isDraining = true }
            return !state.isDraining
        }
        if mustDrain {
            pool.asyncWriteWithoutTransaction { database in self.drain(into: database) }
        }
    }

    /// Takes what waits, batch by batch, until nothing does.
    private func drain(into database: Database) {
        while case let batch = nextBatch(), !batch.isEmpty {
            var completions: [@Sendable (Result<Void, any Error>) -> Void] = []
            let commit = Result {
                try database.inTransaction(.immediate) {
                    for write in batch {
                        completions.append(write.run(database))
                        // A full disk or a failed read rolls the whole transaction back, whatever the savepoint.
                        guard database.isInsideTransaction else {
                            throw DatabaseError(
                                resultCode: .SQLITE_ABORT, message: "another write of the same transaction failed")
                        }
                    }
                    return .commit
                }
            }
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
            if batch.isEmpty { state.isDraining = false }
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
