import Schemas

/// Repeats a store's operation that fails with `unavailable`, as the services do: a busy machine makes a database slow.
///
/// - Throws: Any other error, or the failure that is left after two minutes.
package func whenAvailable<Value>(
    isolation: isolated (any Actor)? = #isolation, _ operation: () async throws -> Value
) async throws -> Value {
    let deadline = ContinuousClock.now + .seconds(120)
    while true {
        do {
            return try await operation()
        } catch let failure as CommandFailure where failure.status == .unavailable && ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
