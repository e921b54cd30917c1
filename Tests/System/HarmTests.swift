import TestSupport
import Testing

/// Faults of the running product, one suite after another. These tests mostly wait: for timeouts, for the next attempt, or for a service
/// that starts again. So they run beside those of ``SystemTests``, which need the processors more.
@Suite("Harm to the system", .serialized)
enum HarmTests {
    /// Tests that freeze or kill services, protect files, or change settings, and leave the product well. It has a configuration file, and
    /// serves metrics.
    @Suite("One product that is harmed", .stack(preparedBy: HarmedState.prepare))
    enum HarmedProduct {}

    /// Tests of services that no supervisor starts again.
    @Suite("Services without a supervisor", .services)
    enum WithoutSupervisor {}
}
