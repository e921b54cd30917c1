import TestSupport
import Testing

/// One stack for all the tests of a suite and of the suites in it: `@Suite(.stack())`, and in the tests `SharedStack.current`.
struct SharedStack: SuiteTrait, TestScoping {
    /// That of the outer suite first.
    @TaskLocal private static var running: [Stack] = []

    /// Prepares the state directory, which does not exist yet, and returns the settings.
    let prepare: @Sendable (_ stateDirectory: String) async throws -> [String: String]

    /// The suite's stack.
    static var current: Stack {
        get throws { try #require(running.last) }
    }

    /// The stack of the suite that contains the one of ``current``.
    static var outer: Stack {
        get throws { try #require(running.dropLast().last) }
    }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let state = folder + "/état 1"
            let settings = try await prepare(state)
            try await withStack(in: state, settings: settings) { stack in
                try await Self.$running.withValue(Self.running + [stack]) { try await function() }
            }
        }
    }
}

extension Trait where Self == SharedStack {
    static func stack(_ settings: [String: String] = [:]) -> SharedStack { SharedStack { _ in settings } }

    /// - Parameter prepare: Prepares the state directory, which does not exist yet, and returns the settings.
    static func stack(
        preparedBy prepare: @escaping @Sendable (_ stateDirectory: String) async throws -> [String: String]
    ) -> SharedStack {
        SharedStack(prepare: prepare)
    }
}
