import UnixSignals

/// A signal that ends the run early.
package struct Interruption: Error {
    package let signal: Int32
}

/// Runs a body. If a signal such as Ctrl-C's comes first, the body is cancelled and awaited.
///
/// - Throws: The body's error, or ``Interruption``.
package func untilInterrupted<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
    return try await withThrowingTaskGroup(of: Value.self) { group in
        group.addTask { try await body() }
        group.addTask {
            for await signal in signals { throw Interruption(signal: signal.rawValue) }
            throw CancellationError()
        }
        defer { group.cancelAll() }
        guard let value = try await group.next() else { throw CancellationError() }
        return value
    }
}
