/// Runs a body, and then a cleanup, whether the body has failed or not.
///
/// - Throws: The body's error, or else that of the cleanup.
package func withCleanup<Value>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value, cleanup: () async throws -> Void
) async throws -> Value {
    let value: Value
    do {
        value = try await body()
    } catch {
        try? await cleanup()
        throw error
    }
    try await cleanup()
    return value
}
