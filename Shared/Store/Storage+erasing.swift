import Schemas

extension Storage {
    /// How often it is tried to empty the write-ahead log, for two seconds.
    private static let maxAttempts = 20

    /// As ``removeTraces()``, for the answer to the erasure of a person: another read may need the write-ahead log for a moment,
    /// and another call of the command would not know what was removed.
    package func removeTracesPatiently() async throws {
        for _ in 0..<Self.maxAttempts {
            do {
                return try await removeTraces()
            } catch let failure as CommandFailure where failure.status == .unavailable {
                try await Task.sleep(for: .milliseconds(100))
            }
        }
        try await removeTraces()
    }
}
