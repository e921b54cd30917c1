import CommandBus
import ServiceKit
import TestSupport

@testable import Gateway

extension Features {
    /// Runs a test with the gateway's features, without any running service.
    static func alone<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: (Features) async throws -> Result
    ) async throws -> Result {
        let settings = try await SettingValues(arguments: [], environment: [:], accepted: ServiceEntry.gateway.settings)
        return try await withBus { try await body(Features(bus: $0, settings: settings, logger: quietLogger)) }
    }
}
