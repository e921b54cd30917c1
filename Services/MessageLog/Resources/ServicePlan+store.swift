package import Bus
package import Store
package import ServiceKit

extension ServicePlan {
    /// A service that answers commands from one store. The store is in the database of `MSI_DATABASE_URL`, or in a file of the
    /// state directory.
    ///
    /// - Parameters:
    ///   - entry: The service's entry in the catalogue. It must have a socket for commands, and keep data.
    ///   - addCommands: Adds the handlers. The router is healthy while the store can be read.
    package static func answering(
        _ entry: ServiceEntry, from declaration: StoreDeclaration, _ wiring: Wiring,
        _ addCommands: (_ router: inout CommandRouter, _ store: Storage) -> Void
    ) async throws -> ServicePlan {
        let settings = wiring.settings
        let endpoint = try settings.value(.listen(entry))
        let place = StoragePlace(
            database: try settings.optional(.databaseURL, as: MongoURL.init), folder: try settings.value(.stateDirectory))
        let store = try await Storage.open(declaration, at: place, logger: wiring.logger)
        let bus = try Bus(settings, logger: wiring.logger)
        var router = CommandRouter(stores: [store])
        addCommands(&router, store)
        let server = try CommandServer(bus: bus, endpoint: endpoint, router: router, logger: wiring.logger)
        return ServicePlan(
            services: [server],
            selfCheck: .commands(of: server, bus: bus, logger: wiring.logger),
            close: {
                await bus.close()
                try await store.close()
            })
    }
}
