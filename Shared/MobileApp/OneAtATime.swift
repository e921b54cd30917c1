import Synchronization

/// Does one thing after another, in the order of the calls.
final class OneAtATime: Sendable {
    private let last = Mutex<Task<Void, Never>?>(nil)

    /// - Throws: The error of the work, which is cancelled together with the caller.
    func run<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let task = last.withLock { last in
            let previous = last
            let task = Task {
                await previous?.value
                try Task.checkCancellation()
                return try await work()
            }
            last = Task { _ = await task.result }
            return task
        }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }
}
