package import Logging
package import ServiceLifecycle

/// What a service's wiring has to work with.
package struct Wiring: Sendable {
    package let settings: SettingValues
    package let logger: Logger
}

/// A service, wired together and not yet running.
package struct ServicePlan: Sendable {
    /// What runs, in the order in which it depends on one another; stopped from the last to the first.
    package let services: [any Service]
    /// Returns once the service can do its work.
    package let whenReady: @Sendable () async throws -> Void
    /// Releases what the services used, after all of them have ended.
    package let close: @Sendable () async throws -> Void

    package init(
        services: [any Service],
        close: @escaping @Sendable () async throws -> Void,
        whenReady: @escaping @Sendable () async throws -> Void = {}
    ) {
        self.services = services
        self.whenReady = whenReady
        self.close = close
    }
}
