import AuditTrail
import CommandBus
import CubeStorage
import DurableFiles
import MongoDatabase
import Schemas
import ServiceKit

extension ServicePlan {
    private static let cubeFile = "cube.sqlite"

    /// Wires the cube service together.
    static func cube(_ wiring: Wiring) async throws -> ServicePlan {
        let settings = wiring.settings
        let logger = wiring.logger
        let database = try settings.optional(.databaseURL, as: MongoURL.init)
        let folder = try settings.value(.stateDirectory)
        let lock = try StateLock.serving(Self.cubeFile, inMongoDB: database != nil, stateDirectory: folder)
        let sizeLimit = CubeSizeLimit(bytes: try settings.value(.cubeSizeLimit))
        let store = try await openCubeStore(database: database, folder: folder, sizeLimit: sizeLimit, logger: logger)
        if database == nil { KnownStores.remember(Self.cubeFile, in: folder) }
        let bus = try Bus(settings, logger: logger)
        let publisher = try EventPublisher(bus: bus, endpoint: settings.value(.listen(.cube, .events)), logger: logger)
        let announcer = RepeatedEvent(CubeChanged.name, publisher: publisher, logger: logger) {
            CubeChanged(version: try await store.repeatedVersion())
        }
        let watch = ForeignEditWatch(store: store, announcer: announcer, logger: logger)
        let people = try CommandClient(bus: bus, endpoints: settings.value(.endpoints(of: .people)), logger: logger)
        let audit = AuditForwarder(of: store, to: people, logger: logger)
        let server = try CommandServer(
            bus: bus, endpoint: settings.value(.listen(.cube)),
            router: .cube(store: store, announcer: announcer, parts: { audit.health }), logger: logger)
        return ServicePlan(
            services: [announcer, watch, audit, server],
            selfCheck: .commands(of: server, bus: bus, logger: logger),
            close: {
                await bus.close()
                try await store.close()
                lock?.release()
            })
    }
}
