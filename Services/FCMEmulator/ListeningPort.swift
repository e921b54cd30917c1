import Synchronization

/// The port that the server listens on, known once it does.
final class ListeningPort: Sendable {
    private let ports: AsyncStream<Int>
    private let continuation: AsyncStream<Int>.Continuation

    init() {
        (ports, continuation) = AsyncStream.makeStream()
    }

    func set(_ port: Int) {
        continuation.yield(port)
        continuation.finish()
    }

    /// Waits for the port; asked once.
    ///
    /// - Throws: `CancellationError` if there will be none.
    func value() async throws -> Int {
        for await port in ports { return port }
        throw CancellationError()
    }
}
