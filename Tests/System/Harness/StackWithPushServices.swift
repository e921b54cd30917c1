import TestSupport
import Testing

extension HarmTests {
    /// Tests with browsers at two push services, which share a stack.
    @Suite("Browsers at push services", .stackWithPushServices)
    enum WithPushServices {}
}

/// One stack for all the tests of a suite, and two push services for its browsers: in the tests ``current``.
struct StackWithPushServices: SuiteTrait, TestScoping {
    @TaskLocal private static var running: (stack: Stack, services: [TestPushService])?

    static var current: (stack: Stack, services: [TestPushService]) {
        get throws { try #require(running) }
    }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withPushServices(2) { services in
            let hosts = services.map(\.url).joined(separator: ",")
            let settings = SystemTests.noLimits.merging(["MSI_WEBPUSH_HOSTS": hosts, "MSI_REGISTRATION": "anyone"]) { $1 }
            try await withStack(settings: settings) { stack in
                try await Self.$running.withValue((stack, services)) { try await function() }
            }
        }
    }
}

extension Trait where Self == StackWithPushServices {
    static var stackWithPushServices: StackWithPushServices { StackWithPushServices() }
}
