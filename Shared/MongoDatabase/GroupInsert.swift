import DequeModule
import Synchronization

/// Inserts documents into a collection, with one command for all documents that wait at the same time. A durable write costs one
/// wait for the servers' disks, for one document as for hundreds.
package final class GroupInsert: Sendable {
    private struct Insert: Sendable {
        let document: BSONDocument
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var waiting: Deque<Insert> = []
        var commandsInFlight = 0
    }

    /// With only one, a document that arrives just after a command was sent would wait for two commands.
    private static let maxCommandsInFlight = 4
    /// Limits the duration of one command.
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
    /// - Throws: The ``MongoError`` of this document, independently of the others in the same command.
    package func insert(_ document: BSONDocument) async throws {
        try await withCheckedThrowingContinuation { continuation in
            let insert = Insert(document: document, continuation: continuation)
            let mayBegin = state.withLock { state in
                state.waiting.append(insert)
                guard state.commandsInFlight < Self.maxCommandsInFlight else { return false }
                state.commandsInFlight += 1
                return true
            }
            if mayBegin { Task { await storeWaiting() } }
        }
    }

    /// Stores waiting documents in batches until there are none.
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
            if batch.isEmpty { state.commandsInFlight -= 1 }
            return batch
        }
    }
}
