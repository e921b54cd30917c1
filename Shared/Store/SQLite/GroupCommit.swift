import CoreMetrics
import DequeModule
import GRDB
import Schemas
import Synchronization

/// Runs writes one after another on the pool's writer, and commits waiting writes together: a durable commit costs one sync of
/// the disk, for one write or hundreds.
///
/// A write that can wait goes with the next commit, and causes one itself only after ``maxWait``. So a message's outcome rarely costs
/// a commit, and does not hold up the next message.
///
/// The writes of a commit run without savepoints, since hardly any fails. If one fails after it has changed something, all of them are
/// rolled back and run again, each in a savepoint.
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
        /// Runs it, in a savepoint or without one.
        let run: @Sendable (Database, _ inSavepoint: Bool) -> Ran
        /// Fails it without running it.
        let fail: @Sendable (any Error) -> Void
        let canWait: Bool
    }

    /// The outcome of a batch.
    private struct Outcome {
        /// The writes that have run.
        var ran: [Ran] = []
        /// Whether they are committed.
        var commit = Result<Void, any Error>.success(())
        /// Whether a write has failed after it had changed something, without a savepoint. Everything is rolled back then.
        var needsSavepoints = false
    }

    private struct State {
        var waiting: Deque<Write> = []
        /// How many of those cannot wait.
        var urgent = 0
        /// Whether the time of those that can wait is over.
        var isOverdue = false
        /// Whether the timer will call ``commitWaiting(isTimer:)``.
        var hasTimer = false
        /// When the writer began its current commit, or was asked to begin; `nil` if it is idle.
        var busySince: ContinuousClock.Instant?

        /// The writes of the next commit; none if all can still wait. Then the writer is idle.
        mutating func nextBatch() -> [Write] {
            guard urgent > 0 || isOverdue else {
                busySince = nil
                return []
            }
            let batch = Array(waiting.prefix(GroupCommit.maxPerCommit))
            waiting.removeFirst(batch.count)
            urgent -= batch.count { !$0.canWait }
            isOverdue = isOverdue && !waiting.isEmpty
            busySince = batch.isEmpty ? nil : .now
            return batch
        }

        /// Whether the caller has to set the timer.
        mutating func mustSetTimer() -> Bool {
            guard busySince == nil, !waiting.isEmpty, !hasTimer else { return false }
            hasTimer = true
            return true
        }
    }

    /// Keeps a commit, and the wait for it, short.
    private static let maxPerCommit = 500
    /// How long a write waits that can.
    private static let maxWait = Duration.milliseconds(5)

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

    /// When the writer began its current commit; `nil` if it is idle.
    var busySince: ContinuousClock.Instant? { state.withLock { $0.busySince } }

    /// The number of commits that have changed something, including one whose writers do not know of it yet.
    var count: Int { changes.load(ordering: .acquiring) }

    /// - Parameter canWait: Whether it need not be committed at once.
    func write<Value: Sendable>(
        canWait: Bool = false, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            enqueue(
                Write(
                    run: { database, inSavepoint in
                        let result = Result { try inSavepoint ? Self.inSavepoint(of: database, body) : body(database) }
                        return Ran(error: result.error) { commit in
                            // Its own error is more specific than the commit's.
                            continuation.resume(with: result.flatMap { value in commit.map { value } })
                        }
                    },
                    fail: { error in continuation.resume(throwing: error) }, canWait: canWait))
        }
    }

    private func enqueue(_ write: Write) {
        let (mustDrain, mustSetTimer) = state.withLock { state in
            state.waiting.append(write)
            if write.canWait { return (false, state.mustSetTimer()) }
            state.urgent += 1
            guard state.busySince == nil else { return (false, false) }
            state.busySince = .now
            return (true, false)
        }
        if mustDrain { drainSoon() }
        if mustSetTimer { setTimer() }
    }

    private func drainSoon() {
        pool.asyncWriteWithoutTransaction { database in self.drain(into: database) }
    }

    private func setTimer() {
        Task {
            try? await Task.sleep(for: Self.maxWait)
            commitWaiting(isTimer: true)
        }
    }

    /// Commits the writes that can wait: their time is over, or the database is about to be closed.
    ///
    /// - Parameter isTimer: Whether the timer calls it.
    func commitWaiting(isTimer: Bool = false) {
        let mustDrain = state.withLock { state in
            if isTimer { state.hasTimer = false }
            state.isOverdue = !state.waiting.isEmpty
            guard state.isOverdue, state.busySince == nil else { return false }
            state.busySince = .now
            return true
        }
        if mustDrain { drainSoon() }
    }

    /// Commits waiting writes batch by batch until none are left.
    private func drain(into database: Database) {
        while case let batch = state.withLock({ $0.nextBatch() }), !batch.isEmpty {
            sizes.record(batch.count)
            let before = database.totalChangesCount
            var outcome = run(batch, inSavepoints: false, in: database)
            if outcome.needsSavepoints { outcome = run(batch, inSavepoints: true, in: database) }
            let hasChanged = database.totalChangesCount != before
            if hasChanged { changes.add(1, ordering: .releasing) }
            // Before the callers learn of the commit, so that the health they ask for includes it.
            report(outcome.ran.compactMap(\.error) + [outcome.commit.error].compactMap(\.self), hasChanged: hasChanged)
            for write in outcome.ran { write.complete(outcome.commit) }
            if case .failure(let error) = outcome.commit {
                for write in batch.dropFirst(outcome.ran.count) { write.fail(error) }
            }
        }
        if state.withLock({ $0.mustSetTimer() }) { setTimer() }
    }

    /// Runs the writes of a batch in one transaction.
    private func run(_ batch: [Write], inSavepoints: Bool, in database: Database) -> Outcome {
        var outcome = Outcome()
        outcome.ran.reserveCapacity(batch.count)
        outcome.commit = Result {
            try database.inTransaction(.immediate) {
                for write in batch {
                    let before = database.totalChangesCount
                    let ran = write.run(database, inSavepoints)
                    outcome.ran.append(ran)
                    // A full disk or an I/O error rolls back the whole transaction, even from a savepoint.
                    guard database.isInsideTransaction else {
                        throw DatabaseError(
                            resultCode: .SQLITE_ABORT, message: "another write of the same transaction failed")
                    }
                    if ran.error != nil, !inSavepoints, database.totalChangesCount != before {
                        outcome.needsSavepoints = true
                        return .rollback
                    }
                }
                return .commit
            }
        }
        return outcome
    }

    /// Reports the outcome of a commit. A commit that has written nothing shows nothing about the disk, and a write's own error shows
    /// nothing about other writes.
    private func report(_ errors: [any Error], hasChanged: Bool) {
        if let failure = errors.lazy.compactMap({ ($0 as? DatabaseError)?.failure as? CommandFailure }).first {
            health.ended(failure)
        } else if hasChanged {
            health.ended(nil)
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
