import DequeModule
import Store
import GRDB
import Schemas

/// Limits the number and the duration of reads of one kind, such as pages. A search for common words may scan most of the archive.
/// The outbox and reads of single messages must not wait for it.
actor HistoryReaders {
    /// Keeps the wait shorter than the callers' timeouts.
    private static let maxWaiting = 50

    /// The maximum duration of a read with the wait for a reader; `nil` for no limit.
    private let maxTime: Duration?
    private var free: Int
    private var waiting: Deque<CheckedContinuation<Void, Never>> = []

    /// - Parameter maxAtATime: How many of the database's eight reader connections history reads may use at a time.
    init(maxTime: Duration?, maxAtATime: Int = 3) {
        self.maxTime = maxTime
        free = maxAtATime
    }

    /// - Parameter checkStillWanted: Called when a reader is free. Throws if the caller has given up. Without it, under load, readers
    ///   would only serve callers that have given up.
    /// - Throws: ``CommandFailure`` with status `overloaded` if too many wait already or no reader is free in time, and
    ///   `deadline_exceeded` if the read takes too long.
    func read<Value: Sendable>(
        from database: EmbeddedDatabase, checkStillWanted: @Sendable () throws -> Void,
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        let deadline = maxTime.map { ContinuousClock.now + $0 }
        try await takePlace()
        defer { giveBack() }
        try checkStillWanted()
        guard let deadline else { return try await database.read(mayTakeLong: true, body) }
        guard ContinuousClock.now < deadline else { throw CommandFailure.tooManyReaders }
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await database.read(mayTakeLong: true, body) }
            group.addTask {
                try await Task.sleep(until: deadline)
                return nil
            }
            defer { group.cancelAll() }
            guard let value = try await group.next() ?? nil else {
                throw CommandFailure(
                    .deadlineExceeded, "the search takes too long; more words, or a shorter time from and to, make it shorter")
            }
            return value
        }
    }

    private func takePlace() async throws {
        if free > 0 {
            free -= 1
            return
        }
        guard waiting.count < Self.maxWaiting else { throw CommandFailure.tooManyReaders }
        await withCheckedContinuation { waiting.append($0) }
    }

    private func giveBack() {
        if let next = waiting.popFirst() { next.resume() } else { free += 1 }
    }
}

extension CommandFailure {
    fileprivate static let tooManyReaders = CommandFailure(.overloaded, "too many requests read the archive now")
}
