import Synchronization

/// The port that the server listens on, which is known only after it has bound its socket.
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

    /// Waits for the port. Call it once.
    ///
    /// - Throws: `CancellationError` if the server never listens.
    func value() async throws -> Int {
        for await port in ports { return port }
        throw CancellationError()
    }
}
