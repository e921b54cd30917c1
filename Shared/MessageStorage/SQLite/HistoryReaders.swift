import EmbeddedDatabase
import GRDB
import Schemas

/// Reads pages of the archive, a few at a time and none for long: a search for words that are everywhere may have to look at
/// most of the archive, and neither the outbox nor whoever asks for one message must wait for it.
actor HistoryReaders {
    /// Of the database's readers; the others are for the outbox, and for single messages.
    private static let maxAtATime = 3
    /// So that whoever waits is told before it gives up by itself.
    private static let maxWaiting = 50
    private static let maxRead = Duration.seconds(4)

    private var free = maxAtATime
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// - Parameter checkTurn: Called when a reader is free; throws if the caller has given up. Without it, readers
    ///   with a queue would serve only those who have given up.
    /// - Throws: ``CommandFailure`` with status `overloaded` where too many wait already, and `deadline_exceeded` for one that
    ///   takes too long.
    func read<Value: Sendable>(
        from database: EmbeddedDatabase, checkTurn: @Sendable () throws -> Void,
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try await takePlace()
        defer { giveBack() }
        try checkTurn()
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await database.read(body) }
            group.addTask {
                try await Task.sleep(for: Self.maxRead)
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
        guard waiting.count < Self.maxWaiting else {
            throw CommandFailure(.overloaded, "too many read the archive at this moment")
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    private func giveBack() {
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
}
