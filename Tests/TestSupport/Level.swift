import Glibc
package import Testing

/// The two levels of the proof. `deploy/test` runs level one, `deploy/test --all` everything.
package enum Level {
    /// Whether all tests run: `MSI_TEST_LEVEL=all`, which `deploy/test --all` sets.
    package static let isAll = getenv("MSI_TEST_LEVEL").map { String(cString: $0) } == "all"
}
extension Trait where Self == ConditionTrait {
    /// A test that proves at more length what a test of level one proves already.
    package static var atLength: Self { .enabled(if: Level.isAll, "only in deploy/test --all") }
}
