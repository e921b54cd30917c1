import FoundationEssentials
import Schemas

/// The event that a test waited for did not happen in time. It ends the test.
package struct TooLate: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}

/// Waits until a condition returns a value.
///
/// - Parameters:
///   - what: The expected event. The error names it, with the place of the call.
///   - timeout: The maximum wait.
///   - pause: The time between two calls of the condition; less between the first ones.
///   - condition: Returns the value, or `nil` while there is none.
/// - Throws: ``TooLate``, or the condition's error.
package func eventually<Value>(
    _ what: @autoclosure () -> String = "the condition", within timeout: Duration = .seconds(120),
    every pause: Duration = .milliseconds(20), file: StaticString = #fileID, line: Int = #line,
    isolation: isolated (any Actor)? = #isolation, _ condition: () async throws -> Value?
) async throws -> Value {
    let deadline = ContinuousClock.now + timeout
    var next = min(pause, .milliseconds(1))
    while true {
        if let value = try await condition() { return value }
        guard ContinuousClock.now < deadline else {
            throw TooLate("\(file):\(line): after \(timeout) still not: \(what())")
        }
        try await Task.sleep(for: next)
        next = min(next * 2, pause)
    }
}

/// Waits until a condition is true.
///
/// - Parameters:
///   - what: The expected event. The error names it, with the place of the call.
///   - timeout: The maximum wait.
///   - pause: The time between two calls of the condition.
/// - Throws: ``TooLate``, or the condition's error.
package func eventually(
    _ what: @autoclosure () -> String = "the condition", within timeout: Duration = .seconds(120),
    every pause: Duration = .milliseconds(20), file: StaticString = #fileID, line: Int = #line,
    isolation: isolated (any Actor)? = #isolation, isTrue condition: () async throws -> Bool
) async throws {
    try await eventually(what(), within: timeout, every: pause, file: file, line: line) {
        try await condition() ? () : nil
    }
}

/// Sleeps until a time, or until a condition is true, if that comes first.
///
/// - Parameters:
///   - end: The end of the sleep.
///   - isOver: The condition. It is checked ten times a second.
package func sleep(
    until end: ContinuousClock.Instant, isolation: isolated (any Actor)? = #isolation, unless isOver: () -> Bool
) async throws {
    while !isOver() {
        let now = ContinuousClock.now
        guard now < end else { return }
        try await Task.sleep(until: min(end, now + .milliseconds(100)), clock: .continuous)
    }
}

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

extension Int64 {
    /// Unix milliseconds.
    package static var nowInMilliseconds: Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }
}
