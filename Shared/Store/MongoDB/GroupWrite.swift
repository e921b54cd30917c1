import DequeModule
import Synchronization

/// Writes with one command all items that wait at the same time. A durable write costs one wait for the servers' disks, for one item as
/// for hundreds.
package final class GroupWrite<Item: Sendable, Outcome: Sendable>: Sendable {
    /// Writes items with one command, each one independently of the others.
    ///
    /// - Returns: The outcome of each item.
    /// - Throws: If the outcome of all of them is unknown.
    package typealias Command = @Sendable (MongoConnection, [Item]) throws -> [Result<Outcome, any Error>]

    private struct Write: Sendable {
        let item: Item
        let continuation: CheckedContinuation<Outcome, any Error>
    }

    /// What a command writes.
    private final class Batch: Sendable {
        let writes = Mutex<[Write]>([])
    }

    private struct State {
        var waiting: Deque<Write> = []
        var commandsInFlight = 0
    }

    /// With only one, an item that arrives just after a command was sent would wait for two commands.
    private static var maxCommandsInFlight: Int { 4 }
    /// Limits the duration of one command.
    private static var maxPerCommand: Int { 500 }

    private let database: MongoDatabase
    private let command: Command
    private let state = Mutex(State())

    package init(database: MongoDatabase, _ command: @escaping Command) {
        self.database = database
        self.command = command
    }

    /// Writes an item, and returns once that is durable.
    ///
    /// - Throws: The error of this item, independently of the others in the same command.
    package func write(_ item: Item) async throws -> Outcome {
        try await withCheckedThrowingContinuation { continuation in
            let mayBegin = state.withLock { state in
                state.waiting.append(Write(item: item, continuation: continuation))
                guard state.commandsInFlight < Self.maxCommandsInFlight else { return false }
                state.commandsInFlight += 1
                return true
            }
            if mayBegin { writeBatch() }
        }
    }

    /// Writes a batch of what waits, and then the next one until nothing waits.
    private func writeBatch() {
        let batch = Batch()
        database.start { [command] connection in
            // As late as possible, so that what has arrived since goes with it.
            let writes = self.nextBatch()
            guard !writes.isEmpty else { return [] }
            batch.writes.withLock { $0 = writes }
            return try command(connection, writes.map(\.item))
        } whenDone: { (outcome: Result<[Result<Outcome, any Error>], any Error>) in
            var writes = batch.writes.withLock(\.self)
            // The database is away, so nothing was taken.
            if case .failure = outcome, writes.isEmpty { writes = self.nextBatch() }
            self.writeNextBatch()
            switch outcome {
            case .success(let outcomes):
                for (write, outcome) in zip(writes, outcomes) { write.continuation.resume(with: outcome) }
            case .failure(let error):
                for write in writes { write.continuation.resume(throwing: error) }
            }
        }
    }

    private func writeNextBatch() {
        let isMore = state.withLock { state in
            if state.waiting.isEmpty { state.commandsInFlight -= 1 }
            return !state.waiting.isEmpty
        }
        if isMore { writeBatch() }
    }

    private func nextBatch() -> [Write] {
        state.withLock { state in
            let batch = Array(state.waiting.prefix(Self.maxPerCommand))
            state.waiting.removeFirst(batch.count)
            return batch
        }
    }
}
