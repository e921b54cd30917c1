/// Does something on the threads of Swift concurrency, wherever it is asked for: what takes long, or may block, does not belong on
/// the bus thread.
package func onSharedThreads<Value>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
) async rethrows -> Value {
    try await withTaskExecutorPreference(globalConcurrentExecutor) {
        // This is what moves it: a closure that only calls a function which stays with its caller would not go anywhere.
        await Task.yield()
        return try await body()
    }
}
