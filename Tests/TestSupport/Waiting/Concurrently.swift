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
