import CommandBus
import Logging
import ServiceKit

/// A client for each service that the gateway sends commands to.
struct ServiceClients: Sendable {
    /// In the order of the catalogue.
    let all: [(service: ServiceEntry, client: CommandClient)]
}

extension ServiceClients {
    /// - Throws: ``ConfigurationError``, or `BusError`.
    init(bus: Bus, settings: SettingValues, logger: Logger) throws {
        all = try ServiceEntry.gateway.uses.filter { $0.sockets.contains(.commands) }.map { use in
            let endpoints = try settings.value(.endpoints(of: use.service))
            return (
                use.service, try CommandClient(bus: bus, endpoints: endpoints, named: "the \(use.service.title)", logger: logger)
            )
        }
    }

    /// Those that `GET /health` asks.
    var asked: [(service: ServiceEntry, client: CommandClient)] { all.filter { $0.service.gatewayNeed != .reportedByOther } }

    /// The client of a service whose entry says that the gateway sends it commands.
    subscript(service: ServiceEntry) -> CommandClient {
        guard let found = all.first(where: { $0.service == service }) else {
            preconditionFailure("the gateway sends no commands to \(service.name)")
        }
        return found.client
    }
}
