import CommandBus
import CubeStorage
import ServiceKit

extension ServicePlan {
    /// Wires the cube service together.
    static func cube(_ wiring: Wiring) async throws -> ServicePlan {
        let settings = wiring.settings
        let logger = wiring.logger
        let store = try SQLiteCubeStore(path: settings.value(.stateDirectory) + "/cube.sqlite")
        let bus = try Bus(logger: logger)
        let publisher = try EventPublisher(bus: bus, endpoint: settings.value(.cubeEventsListen), logger: logger)
        let announcer = CubeAnnouncer(store: store, publisher: publisher, logger: logger)
        let server = try CommandServer(
            bus: bus, endpoint: settings.value(.cubeListen), router: .cube(store: store, announcer: announcer), logger: logger)
        return ServicePlan(
            services: [announcer, server],
            close: {
                await bus.close()
                try store.close()
            })
    }
}
