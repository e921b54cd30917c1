/// Something that a test waited for did not come about in time.
package struct TooLate: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}

/// Waits for a condition, and fails when it does not come about in time.
///
/// - Parameters:
///   - what: What is waited for, for the message of the failure.
///   - limit: The longest wait.
///   - pause: The time between two looks.
///   - condition: Returns what was waited for, or `nil` as long as it is not there.
/// - Throws: ``TooLate``, or what the condition throws.
package func eventually<Value>(
    _ what: @autoclosure () -> String, within limit: Duration = .seconds(20), every pause: Duration = .milliseconds(15),
    isolation: isolated (any Actor)? = #isolation, _ condition: () async throws -> Value?
) async throws -> Value {
    let deadline = ContinuousClock.now + limit
    while true {
        if let value = try await condition() { return value }
        guard ContinuousClock.now < deadline else { throw TooLate("after \(limit) still not: \(what())") }
        try await Task.sleep(for: pause)
    }
}

/// The same for a condition that is true or not yet.
package func eventually(
    _ what: @autoclosure () -> String, within limit: Duration = .seconds(20), every pause: Duration = .milliseconds(15),
    isolation: isolated (any Actor)? = #isolation, isTrue condition: () async throws -> Bool
) async throws {
    try await eventually(what(), within: limit, every: pause) { try await condition() ? () : nil }
}
