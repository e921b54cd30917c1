import Base
import Logging
import Store
import Synchronization

/// Adds the words of new messages to the full-text index, so that no insertion waits for it. It follows the archive by about half a
/// second, so that one commit adds many messages. While there is nothing to add, there is no task and no timer.
///
/// What a process leaves behind is indexed after the next insertion, search or start of any process that uses the file. Several
/// indexers may work at the same time: each message is added once.
final class MessageIndexer: Sendable {
    private struct SharedIndexing {
        let task: Task<Void, Never>
        let began: ContinuousClock.Instant
    }

    private struct State {
        /// The messages of this process since the index was last brought up to date.
        var inserted = 0
        var worker: Task<Void, Never>?
        /// The wait for more messages.
        var collecting: Task<Void, Never>?
        /// What searches wait for, while it runs.
        var forSearches: SharedIndexing?
        var isClosed = false
    }

    /// So many messages are indexed at once. Together they cost a fifth of what they cost one by one.
    private static let enoughForWrite = 250
    /// Keeps a write short, since insertions wait for it. It is more than ``enoughForWrite``, so that what is stored in the meantime
    /// belongs to the same write.
    private static let maxPerWrite = 400
    /// A search with a limited wait waits for the words of at most this many messages.
    private static let maxWaitedFor = 500
    private static let collectionTime = Duration.milliseconds(500)

    private let database: EmbeddedDatabase
    private let maxWait: Duration?
    private let logger: Logger
    private let state = Mutex(State())
    /// Has one key. Of this process's tasks only one reads and adds messages at a time: the others would do the same again.
    private let turns = KeyedLock<Int>()

    /// - Parameter maxWait: How long a search waits for words, since the disk may be frozen; `nil` for no limit.
    init(_ database: EmbeddedDatabase, maxWait: Duration?, logger: Logger) {
        self.database = database
        self.maxWait = maxWait
        self.logger = logger
    }

    /// A message was stored. It is indexed soon, or at once if there are enough for a write.
    func inserted() { wake(adding: 1) }

    /// Indexes without a wait what is left from earlier.
    func catchUp() { wake(adding: Self.enoughForWrite) }

    /// Indexes what was stored before the call, for a search. If that is too much or takes too long, the search does not wait for it.
    /// Nor does it fail if nothing can be written.
    func index() async {
        guard let maxWait else {
            _ = try? await indexAll()
            return
        }
        // Most of the time there is none.
        let count = try? await database.read { try UnindexedMessages.count(upTo: Self.maxWaitedFor + 1, in: $0) }
        guard let count, count > 0 else { return }
        guard count <= Self.maxWaitedFor else { return catchUp() }
        let end = ContinuousClock.now + maxWait
        // One that is running may have read the messages before the call; the next one has not.
        for _ in 1...2 {
            let (indexing, isNew) = indexingForSearches()
            // On a frozen disk each wait would leave a task behind.
            guard indexing.began + maxWait > .now, await indexing.task.finishes(by: end), !isNew else { return }
        }
    }

    private func indexingForSearches() -> (SharedIndexing, isNew: Bool) {
        state.withLock { state in
            if let running = state.forSearches { return (running, false) }
            let indexing = SharedIndexing(
                task: Task {
                    _ = try? await indexAll()
                    self.state.withLock { $0.forSearches = nil }
                }, began: .now)
            state.forSearches = indexing
            return (indexing, true)
        }
    }

    /// Ends the work, and waits for a write that runs. The next start indexes the rest.
    func close() async {
        let (worker, collecting) = state.withLock { state in
            state.isClosed = true
            return (state.worker, state.collecting)
        }
        worker?.cancel()
        collecting?.cancel()
        await worker?.value
        await turns.take(0) {}
    }

    private func wake(adding count: Int) {
        let collecting: Task<Void, Never>? = state.withLock { state in
            state.inserted += count
            guard !state.isClosed else { return nil }
            if state.worker == nil { state.worker = Task { await work() } }
            return state.inserted < Self.enoughForWrite ? nil : state.collecting.take()
        }
        collecting?.cancel()
    }

    /// Runs until all is indexed.
    private func work() async {
        var retries = Backoff(first: .seconds(1), max: .seconds(30))
        repeat {
            do {
                await collect()
                try await indexAll()
                if retries.failures > 0 { logger.notice("over: \(Self.outage)") }
                retries.succeeded()
            } catch {
                if Task.isCancelled { return }
                logger.log(level: retries.failures == 0 ? .warning : .debug, Self.outage, metadata: ["error": "\(error)"])
                try? await Task.sleep(for: retries.failed())
            }
        } while !isDone(afterFailure: retries.failures > 0)
    }

    private static let outage: Logger.Message = "the words of new messages cannot be added to the search's index"

    /// Waits for more messages, unless there are enough for a write.
    private func collect() async {
        let collecting: Task<Void, Never>? = state.withLock { state in
            guard state.inserted < Self.enoughForWrite, !state.isClosed else { return nil }
            let collecting = Task<Void, Never> { try? await Task.sleep(untilNext: Self.collectionTime) }
            state.collecting = collecting
            return collecting
        }
        await collecting?.value
        state.withLock { state in
            state.inserted = 0
            state.collecting = nil
        }
    }

    private func isDone(afterFailure hasFailed: Bool) -> Bool {
        state.withLock { state in
            guard state.isClosed || state.inserted == 0 && !hasFailed else { return false }
            state.worker = nil
            return true
        }
    }

    private func indexAll() async throws {
        // Between two batches, others have their turn.
        while try await turns.take(0, { try await indexBatch() }) == Self.maxPerWrite {}
    }

    /// - Returns: How many messages there were.
    private func indexBatch() async throws -> Int {
        guard !state.withLock(\.isClosed) else { return 0 }
        let messages = try await database.read { try UnindexedMessages(first: Self.maxPerWrite, in: $0) }
        guard messages.count > 0 else { return 0 }
        try await database.write { try messages.addWords(in: $0) }
        return messages.count
    }
}
