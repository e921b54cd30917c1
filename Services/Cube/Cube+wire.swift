import AuditTrail
import Bus
import Store
import Schemas
import ServiceKit

extension ServicePlan {
    /// Wires the cube service together.
    static func cube(_ wiring: Wiring) async throws -> ServicePlan {
        let settings = wiring.settings
        let logger = wiring.logger
        let place = StoragePlace(
            database: try settings.optional(.databaseURL, as: MongoURL.init), folder: try settings.value(.stateDirectory))
        let sizeLimit = CubeSizeLimit(bytes: try settings.value(.cubeSizeLimit))
        let store = try await CubeStore(at: place, sizeLimit: sizeLimit, logger: logger)
        let bus = try Bus(settings, logger: logger)
        let publisher = try EventPublisher(bus: bus, endpoint: settings.value(.listen(.cube, .events)), logger: logger)
        let announcer = RepeatedEvent(CubeChanged.name, publisher: publisher, logger: logger) { try await store.repeatedState() }
        let watch = ForeignEditWatch(store: store, announcer: announcer, logger: logger)
        let people = try CommandClient(bus: bus, endpoints: settings.value(.endpoints(of: .people)), logger: logger)
        let audit = AuditForwarder(of: AuditQueue(of: store.storage), to: people, logger: logger)
        let server = try CommandServer(
            bus: bus, endpoint: settings.value(.listen(.cube)),
            router: .cube(store: store, announcer: announcer, parts: { audit.health }), logger: logger)
        return ServicePlan(
            services: [RepeatingService(announcer, logger: logger), watch, audit, server],
            selfCheck: .commands(of: server, bus: bus, logger: logger),
            close: {
                await bus.close()
                try await store.close()
            })
    }
}
