import UnixSignals

/// Runs a body until it ends, or until Ctrl-C, SIGTERM or SIGHUP cancels it.
///
/// - Throws: The body's error.
func untilInterrupted(_ body: @escaping @Sendable () async throws -> Void) async throws {
    let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await body() }
        group.addTask { for await _ in signals { break } }
        defer { group.cancelAll() }
        try await group.next()
    }
}
