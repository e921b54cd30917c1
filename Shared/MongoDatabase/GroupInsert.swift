import Synchronization

/// Stores documents in a collection, those that wait together in one command: the cost of a durable write is one wait for the
/// servers' disks, whether it carries one document or hundreds.
package final class GroupInsert: Sendable {
    private struct Insert: Sendable {
        let document: BSONDocument
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var waiting: [Insert] = []
        var commandsUnderWay = 0
    }

    /// With one alone, those who come just after it has left would wait for two.
    private static let maxCommandsInFlight = 4
    /// So that one command, and the wait for it, stays short.
    private static let maxPerCommand = 500

    private let database: MongoDatabase
    private let collection: String
    private let state = Mutex(State())

    package init(database: MongoDatabase, collection: String) {
        self.database = database
        self.collection = collection
    }

    /// Stores a document, and returns once it is durable.
    ///
    /// - Throws: ``MongoError``; its own, whatever became of the others in the same command.
    package func insert(_ document: BSONDocument) async throws {
        try await withCheckedThrowingContinuation { continuation in
            let insert = Insert(document: document, continuation: continuation)
            let mayBegin = state.withLock { state in
                state.waiting.append(insert)
                guard state.commandsUnderWay < Self.maxCommandsInFlight else { return false }
                state.commandsUnderWay += 1
                return true
            }
            if mayBegin { Task { await storeWaiting() } }
        }
    }

    /// Takes what waits, batch by batch, until nothing does.
    private func storeWaiting() async {
        while case let batch = nextBatch(), !batch.isEmpty {
            let outcome: [MongoError?]
            do {
                let documents = batch.map(\.document)
                outcome = try await database.run { [collection] in try $0.insert(documents, into: collection) }
            } catch {
                for insert in batch { insert.continuation.resume(throwing: error) }
                continue
            }
            for (insert, error) in zip(batch, outcome) {
                if let error { insert.continuation.resume(throwing: error) } else { insert.continuation.resume() }
            }
        }
    }

    private func nextBatch() -> [Insert] {
        state.withLock { state in
            let batch = Array(state.waiting.prefix(Self.maxPerCommand))
            state.waiting.removeFirst(batch.count)
            if batch.isEmpty { state.commandsUnderWay -= 1 }
            return batch
        }
    }
}
