import Testing

/// One stack for all the tests of a suite: `@Suite(.stack())`, and in the tests `SharedStack.current`.
struct SharedStack: SuiteTrait, TestScoping {
    @TaskLocal private static var running: Stack?

    let settings: [String: String]

    /// The suite's stack.
    static var current: Stack {
        get throws { try #require(running) }
    }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withStack(settings: settings) { stack in
            try await Self.$running.withValue(stack) { try await function() }
        }
    }
}

extension Trait where Self == SharedStack {
    static func stack(_ settings: [String: String] = [:]) -> SharedStack { SharedStack(settings: settings) }
}
