package import Logging
package import ServiceLifecycle

/// The input for the wiring of a service.
package struct Wiring: Sendable {
    package let settings: SettingValues
    package let logger: Logger
}

/// A service, wired together and not yet running.
package struct ServicePlan: Sendable {
    /// The parts to run, each after its dependencies. They are stopped in reverse order.
    package let services: [any Service]
    /// Returns once the service can do its work.
    package let whenReady: @Sendable () async throws -> Void
    /// Releases the services' resources after all of them have ended.
    package let close: @Sendable () async throws -> Void
    /// Whether the process ends as soon as the first service has ended; otherwise that is an error.
    package let endsByItself: Bool

    package init(
        services: [any Service],
        endsByItself: Bool = false,
        close: @escaping @Sendable () async throws -> Void,
        whenReady: @escaping @Sendable () async throws -> Void = {}
    ) {
        self.services = services
        self.whenReady = whenReady
        self.close = close
        self.endsByItself = endsByItself
    }
}
