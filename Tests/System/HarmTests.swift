import Synchronization
import TestSupport
import Testing

/// Faults of the running product, one suite after another. These tests mostly wait: for timeouts, for the next attempt, or for a service
/// that starts again. So in level one they run beside those of ``SystemTests``, which need the processors more.
@Suite("Harm to the system", .serialized, .aloneAtLength)
enum HarmTests {
    /// Tests that freeze or kill services, protect files, or change settings, and leave the product well. It has a configuration file, and
    /// serves metrics.
    @Suite("One product that is harmed", .stack(preparedBy: HarmedState.prepare))
    enum HarmedProduct {}

    /// Tests of services that no supervisor starts again.
    @Suite("Services without a supervisor", .services)
    enum WithoutSupervisor {}
}

/// At length one of the suites with this trait runs after the other: some of the limits are those of a machine that does nothing else.
struct AloneAtLength: SuiteTrait, TestScoping {
    private static let isTaken = Mutex(false)

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard Level.isAll else { return try await function() }
        try await eventually("the end of the other suite", within: .seconds(3_600), every: .seconds(1)) {
            Self.isTaken.withLock { isTaken in
                defer { isTaken = true }
                return !isTaken
            }
        }
        defer { Self.isTaken.withLock { $0 = false } }
        try await function()
    }
}

extension Trait where Self == AloneAtLength {
    static var aloneAtLength: AloneAtLength { AloneAtLength() }
}
