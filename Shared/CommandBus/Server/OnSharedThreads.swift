/// Runs a closure on Swift's global executor. Use it on the bus thread for work that takes long or may block.
package func onSharedThreads<Value>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
) async rethrows -> Value {
    try await withTaskExecutorPreference(globalConcurrentExecutor) {
        // The yield causes the switch. A closure that only calls `nonisolated(nonsending)` functions would stay on the
        // caller's executor.
        await Task.yield()
        return try await body()
    }
}
