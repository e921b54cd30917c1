import ServiceLifecycle

/// A wait that ends early when the server stops: that waits for no more than a second for what is under way.
enum InterruptiblePause {
    /// - Returns: Whether it waited to the end.
    /// - Throws: `CancellationError` where the task is cancelled.
    static func wait(_ duration: Duration) async throws -> Bool {
        do {
            try await cancelWhenGracefulShutdown { try await Task.sleep(for: duration) }
            return true
        } catch is CancellationError where !Task.isCancelled {
            return false
        }
    }
}
