import Bus
import ServiceLifecycle
import TestSupport

@testable import Gateway

extension DeviceAccess {
    /// Runs a test with the gateway's knowledge of devices alone.
    ///
    /// - Parameters:
    ///   - folder: The state directory of the people service.
    ///   - kept: The folder of the kept file; by default none is kept.
    static func running<Result>(
        in folder: String, keptIn kept: String? = nil, log: RecordedLog = RecordedLog(),
        isolation: isolated (any Actor)? = #isolation, _ body: (DeviceAccess) async throws -> Result
    ) async throws -> Result {
        try await withBus { bus in
            let people = try CommandClient(bus: bus, endpoints: ["ipc://\(folder)/run/people.sock"], logger: quietLogger)
            let devices = try DeviceAccess(
                people: people, bus: bus, endpoints: ["ipc://\(folder)/run/people-events.sock"], logger: log.logger)
            var services: [any Service] = [devices]
            if let kept {
                let service = KeptEndsService(in: kept, devices: devices, logger: log.logger)
                await service.restore()
                services.append(service)
            }
            let group = ServiceGroup(configuration: .init(services: services, logger: quietLogger))
            let running = Task { try await group.run() }
            return try await perform {
                try await body(devices)
            } finally: {
                await group.triggerGracefulShutdown()
                try await running.value
            }
        }
    }
}
