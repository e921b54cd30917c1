import FoundationEssentials
package import Testing

/// The two levels of the proof. `deploy/test` runs level one, `deploy/test --all` everything.
package enum Level {
    /// Whether all tests run: `TEST_LEVEL=all`, which `deploy/test --all` sets. The name has no `MSI_`, since it is no setting of the
    /// product, and the tests' programs start without those of the environment.
    package static let isAll: Bool = ProcessInfo.processInfo.environment["TEST_LEVEL"] == "all"
}

extension Trait where Self == ConditionTrait {
    /// A test that proves at more length what a test of level one proves already.
    package static var atLength: Self { .enabled(if: Level.isAll, "only in deploy/test --all") }
}
