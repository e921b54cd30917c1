import Synchronization

/// Runs a body several times at once, and waits for all of them.
///
/// - Parameter body: Gets the number of its run, from 0.
/// - Returns: What the runs return, in the order in which they end.
/// - Throws: The first error, after the other runs were cancelled and have ended.
@discardableResult
package func concurrently<Result: Sendable>(
    _ count: Int, isolation: isolated (any Actor)? = #isolation, _ body: @escaping @Sendable (Int) async throws -> Result
) async throws -> [Result] {
    try await withThrowingTaskGroup(of: Result.self) { group in
        for number in 0..<count {
            group.addTask { try await body(number) }
        }
        return try await group.reduce(into: []) { $0.append($1) }
    }
}

/// Counts for a test what tasks do at the same time. Closures of several tasks cannot share a `Mutex` of a function.
package final class Counter: Sendable {
    private let value = Mutex(0)

    package init() {}

    package var count: Int { value.withLock(\.self) }

    package func add() {
        value.withLock { $0 += 1 }
    }
}

/// Runs a body, and then a clean-up, even if the body throws an error.
///
/// - Throws: The body's error, or that of the clean-up after a body without one.
package func perform<Value>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value, finally cleanUp: () async throws -> Void
) async throws -> Value {
    let value: Value
    do {
        value = try await body()
    } catch {
        try? await cleanUp()
        throw error
    }
    try await cleanUp()
    return value
}
