/// One service of the product: everything that other parts need to know about it, declared once.
///
/// `msi up`, the settings of endpoints, `GET /health`, the tests' stacks and the chaos run are derived from the entries. To add a
/// service, add an entry and list it in ``behindGateway``.
package struct ServiceEntry: Sendable {
    /// The service's name in `GET /health`. Its executable, its sockets and its settings are named after it.
    package let name: String
    /// A description for `--help`.
    package let summary: String
    /// The TCP port of its HTTP server on 127.0.0.1.
    package let port: Setting<Int>?
    /// Its sockets on the bus.
    package let sockets: [BusSocket]
    /// Whether a machine may run several instances, each with its own sockets. Clients use them as a pool.
    package let mayHaveInstances: Bool
    /// Read only when it is asked for: two services may use each other.
    private let ownUses: @Sendable () -> [BusUse]
    /// Further services that must be ready before `msi up` starts this one, in addition to those that it needs at its start.
    package let startsAfter: [ServiceEntry]
    /// The sockets that the gateway uses.
    package let gatewayUses: [BusSocket]
    /// What the gateway needs it for.
    package let gatewayNeed: GatewayNeed
    /// Whether it stores data, in the database of `MSI_DATABASE_URL` or in files.
    package let keepsData: Bool
    /// Whether it has data of persons: it answers `person.erase` and `person.export`.
    package let keepsPersonalData: Bool
    /// The names of its files and folders in the state directory.
    package let stateFiles: [String]
    /// Its name in the summaries of its sockets' settings, in the singular.
    package let title: String
    /// The purpose of its commands for clients. It completes "The FCM relays …".
    let purpose: String
    private let ownSettings: [SettingDeclaration]

    init(
        _ name: String, _ summary: String, title: String, purpose: String = "to ask", port: Setting<Int>? = nil,
        sockets: [BusSocket] = [], mayHaveInstances: Bool = false,
        uses: @autoclosure @escaping @Sendable () -> [BusUse] = [], startsAfter: [ServiceEntry] = [],
        gatewayUses: [BusSocket] = [], gatewayNeed: GatewayNeed = .messages, keepsData: Bool = false,
        keepsPersonalData: Bool = false, stateFiles: [String] = [], settings: [SettingDeclaration] = []
    ) {
        self.name = name
        self.summary = summary
        self.title = title
        self.purpose = purpose
        self.port = port
        self.sockets = sockets
        self.mayHaveInstances = mayHaveInstances
        ownUses = uses
        self.startsAfter = startsAfter
        self.gatewayUses = gatewayUses
        self.gatewayNeed = gatewayNeed
        self.keepsData = keepsData
        self.keepsPersonalData = keepsPersonalData
        self.stateFiles = stateFiles
        ownSettings = settings
    }

    /// The services of the bus that it uses, with the used sockets.
    package var uses: [BusUse] { ownUses() }

    /// The executable's name.
    package var executable: String { "msi-" + name }

    /// The services that must be ready before `msi up` starts this one.
    package var startDependencies: [ServiceEntry] { uses.filter(\.isNeededAtStart).map(\.service) + startsAfter }

    /// The settings that the service reads in addition to the common ones.
    package var settings: [SettingDeclaration] {
        (keepsData ? SettingDeclaration.database : [])
            + (usesBus ? SettingDeclaration.bus : [])
            + (port.map { [$0.declaration] } ?? [])
            + sockets.map { Setting<String>.listen(self, $0).declaration }
            + ownSettings
            + uses.flatMap { use in use.sockets.map { Setting<[String]>.endpoints(of: use.service, $0).declaration } }
    }
}

/// What the gateway needs a service for, which decides what `GET /health` says while the service is away.
package enum GatewayNeed: Sendable {
    /// To accept messages: without it the gateway is unavailable, unless it has a copy of the service's data.
    case messages
    /// To serve a part of its API: without it the gateway is degraded.
    case other
    /// As ``other``, but the gateway may start without it.
    case otherLater
    /// Another service reports it, and the gateway may start without it.
    case reportedByOther

    /// Whether the gateway is degraded without it, and not unavailable.
    package var isForPart: Bool {
        switch self {
        case .other, .otherLater: true
        case .messages, .reportedByOther: false
        }
    }

    /// Whether `msi up` starts the gateway only when the service is ready.
    var isAtStart: Bool {
        switch self {
        case .messages, .other: true
        case .otherLater, .reportedByOther: false
        }
    }
}

extension ServiceEntry: Hashable {
    package static func == (one: ServiceEntry, other: ServiceEntry) -> Bool { one.name == other.name }

    package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

extension ServiceEntry {
    /// All services, each after its dependencies. They are stopped in reverse order. The study service and the identity emulator, which no
    /// service needs at its start, are the last ones, so that the others have the ports of metrics that they had without them.
    package static let all: [ServiceEntry] =
        [fcmEmulator] + behindGateway.filter { $0 != study } + [gateway, study, identityEmulator]

    /// Services that an operator sets up and starts. `msi up` does not start them.
    package static let optional: [ServiceEntry] = [canary]

    /// The services that answer commands on the bus.
    static let behindGateway: [ServiceEntry] = [fcmRelay, people, cube, messageLog, broadcast, webpush, study]

    /// The services with data of persons. The people service, which erases persons, asks the others.
    package static let withPersonalData: [ServiceEntry] = behindGateway.filter(\.keepsPersonalData)
}

/// A socket of the bus on which a service listens.
package enum BusSocket: Hashable, Sendable {
    /// Takes commands.
    case commands
    /// Publishes events.
    case events
}

/// A service of the bus that another service uses.
package struct BusUse: Sendable {
    private let find: @Sendable () -> ServiceEntry
    package let sockets: [BusSocket]
    /// Whether `msi up` starts the user only when the service is ready. `false` if the user can wait for it for hours.
    package let isNeededAtStart: Bool

    /// - Parameter service: Looked up when it is asked for, since two services may use each other.
    init(service: @autoclosure @escaping @Sendable () -> ServiceEntry, sockets: [BusSocket], isNeededAtStart: Bool = true) {
        find = service
        self.sockets = sockets
        self.isNeededAtStart = isNeededAtStart
    }

    package var service: ServiceEntry { find() }
}

extension ServiceEntry {
    /// The name of a socket's file in the runtime directory.
    package func socketFile(_ socket: BusSocket) -> String {
        switch socket {
        case .commands: name + ".sock"
        case .events: name + "-events.sock"
        }
    }

    /// The prefix of the keys of a socket's settings.
    fileprivate func key(_ socket: BusSocket) -> String {
        let key = name.map { $0 == "-" ? "." : String($0) }.joined()
        return socket == .commands ? key : key + ".events"
    }

    fileprivate func endpoint(_ socket: BusSocket) -> String {
        "ipc://$\(Setting.runtimeDirectory.declaration.name)/\(socketFile(socket))"
    }
}

extension Setting where Value == String {
    /// The endpoint of a service: `MSI_CUBE_LISTEN`, `MSI_CUBE_EVENTS_LISTEN`.
    package static func listen(_ service: ServiceEntry, _ socket: BusSocket = .commands) -> Setting {
        precondition(service.sockets.contains(socket), "the \(service.title) has no such socket")
        let action = socket == .commands ? "takes commands" : "publishes its events"
        return busEndpoint(
            service.key(socket) + ".listen", "Where the \(service.title) \(action).", default: service.endpoint(socket))
    }
}

extension Setting where Value == [String] {
    /// The endpoints for a service's clients: `MSI_CUBE_ENDPOINTS`, `MSI_CUBE_EVENTS_ENDPOINTS`. The default is the endpoint of
    /// the service on this machine.
    package static func endpoints(of service: ServiceEntry, _ socket: BusSocket = .commands) -> Setting {
        let purpose = socket == .commands ? service.purpose : "whose events to follow"
        return busEndpoints(
            service.key(socket) + ".endpoints", "The \(service.title)s \(purpose).", default: service.endpoint(socket),
            follows: Setting<String>.listen(service, socket).declaration.key)
    }
}
