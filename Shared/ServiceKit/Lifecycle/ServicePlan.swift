package import Logging
package import ServiceLifecycle

/// The input for the wiring of a service.
package struct Wiring: Sendable {
    package let settings: SettingValues
    package let logger: Logger
    /// Whether the settings are only checked (`--check-config`). A running service that reads them again must not refuse them for what is away
    /// for a moment.
    package var onlyChecks = false
}

/// A service, wired together and not yet running.
package struct ServicePlan: Sendable {
    /// The parts to run, each after its dependencies. They are stopped in reverse order.
    package let services: [any Service]
    /// Returns once the service can do its work.
    package let whenReady: @Sendable () async throws -> Void
    /// Releases the services' resources after all of them have ended.
    package let close: @Sendable () async throws -> Void
    /// How the service finds out whether it still works, for the service manager's watchdog.
    package let selfCheck: SelfCheck?
    /// Sets the gauges whose values are only read when a monitoring system asks, such as the lengths of queues.
    package let collectMetrics: @Sendable () async -> Void
    /// Whether the process ends as soon as the first service has ended; otherwise that is an error.
    package let endsByItself: Bool

    package init(
        services: [any Service],
        endsByItself: Bool = false,
        selfCheck: SelfCheck? = nil,
        collectMetrics: @escaping @Sendable () async -> Void = {},
        close: @escaping @Sendable () async throws -> Void,
        whenReady: @escaping @Sendable () async throws -> Void = {}
    ) {
        self.services = services
        self.whenReady = whenReady
        self.selfCheck = selfCheck
        self.collectMetrics = collectMetrics
        self.close = close
        self.endsByItself = endsByItself
    }
}
