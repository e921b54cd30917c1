import CommandBus
import Logging
import ServiceKit

extension CommandClient {
    /// Runs a body with a client of a service's instances, and closes it.
    ///
    /// - Throws: ``BusError`` for an invalid endpoint, ``ConfigurationError`` for missing keys, or the error of the body.
    static func with<Value: Sendable>(
        _ endpoints: [String], _ settings: SettingValues, _ body: (CommandClient) async throws -> Value
    ) async throws -> Value {
        var logger = Logger(label: "msi")
        // The caller reports a failure.
        logger.logLevel = .critical
        let bus = try Bus(settings, logger: logger)
        let outcome: Result<Value, any Error>
        do {
            outcome = .success(try await body(try CommandClient(bus: bus, endpoints: endpoints, logger: logger)))
        } catch {
            outcome = .failure(error)
        }
        await bus.close()
        return try outcome.get()
    }
}
