import Bus
import Logging
import Schemas
import Synchronization

/// Reads the changes of one message log, one page after another, whenever it is woken.
final class MessageLogReader: Sendable {
    private struct State {
        var waiting: [CheckedContinuation<Void, Never>] = []
        var isFinished = false
    }

    private let client: CommandClient
    private let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation
    private let state = Mutex(State())

    private static let timeout = Duration.seconds(2)

    /// - Parameter client: A client of this message log alone.
    init(client: CommandClient) {
        self.client = client
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Reads soon. Several wake-ups before it begins count as one.
    func wake() {
        signal.yield()
    }

    /// Ends ``run(from:_:)``, after the pages that are being read.
    func finish() {
        signal.finish()
    }

    /// Reads, and returns when everything until now is read or the message log does not answer.
    func read() async {
        await withCheckedContinuation { continuation in
            let isFinished = state.withLock { state in
                if !state.isFinished { state.waiting.append(continuation) }
                return state.isFinished
            }
            if isFinished { continuation.resume() } else { wake() }
        }
    }

    /// Reads until the task is cancelled or ``finish()`` is called.
    ///
    /// - Parameters:
    ///   - position: Where the next page begins; `nil` for the oldest known change.
    ///   - add: Takes a page.
    func run(
        from position: @Sendable () -> ChangePosition?, _ add: @Sendable (MessageFeed.Page) -> Void
    ) async {
        for await _ in signals {
            let waiting = state.withLock { state in
                defer { state.waiting = [] }
                return state.waiting
            }
            // Without an answer it is tried again at the next wake-up.
            try? await readPages(from: position, add)
            for continuation in waiting { continuation.resume() }
        }
        let waiting = state.withLock { state in
            state.isFinished = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    private func readPages(
        from position: @Sendable () -> ChangePosition?, _ add: @Sendable (MessageFeed.Page) -> Void
    ) async throws {
        var hasMore = true
        while hasMore {
            let reply = try await client.request(ReadMessageChanges(after: position()), timeout: Self.timeout)
            add(try MessageFeed.Page(reply))
            hasMore = !reply.changes.isEmpty && reply.first + Int64(reply.changes.count) - 1 < reply.latest
        }
    }
}
