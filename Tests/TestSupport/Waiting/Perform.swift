/// Runs a body, and then a clean-up, also if the body throws an error.
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
