import ServiceLifecycle

/// A wait that ends early when the server stops. The server gives requests in progress one second.
enum InterruptiblePause {
    /// - Returns: Whether it waited the full time.
    /// - Throws: `CancellationError` if the task is cancelled.
    static func wait(_ duration: Duration) async throws -> Bool {
        do {
            try await cancelWhenGracefulShutdown { try await Task.sleep(for: duration) }
            return true
        } catch is CancellationError where !Task.isCancelled {
            return false
        }
    }
}
