import CommandBus
import Logging
import ServiceKit
import ServiceLifecycle

/// One feature of the gateway, in its own folder: its routes, and the parts that run beside the requests.
protocol Feature: Sendable {
    var routes: [Route] { get }
    /// Followers of the services' events, such as ``FollowedVersion``.
    var background: [any Service] { get }
}

extension Feature {
    var background: [any Service] { [] }
}

/// All features of the gateway. A new one is a new folder and a line here.
struct Features: Sendable {
    private let all: [any Feature]

    /// - Throws: ``ConfigurationError``, or `BusError`.
    init(bus: Bus, settings: SettingValues, logger: Logger) throws {
        let clients = try ServiceClients(bus: bus, settings: settings, logger: logger)
        let cube = try CubeRoutes(client: clients[.cube], bus: bus, settings: settings, logger: logger)
        all = [
            cube,
            try MessageRoutes(cube: cube.service, messageLog: clients[.messageLog], settings: settings, logger: logger),
            HealthRoutes(clients: clients),
            ProblemRoutes(),
        ]
    }

    var routes: [Route] { all.flatMap(\.routes) }
    var background: [any Service] { all.flatMap(\.background) }
}
