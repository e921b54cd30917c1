import Bus
import Logging
import ServiceKit
import ServiceLifecycle
import Base

/// One feature of the gateway: its routes, and the parts that run beside the requests.
protocol Feature: Sendable {
    /// Its section of the API's document.
    var section: APISection { get }
    var routes: [Route] { get }
    /// Followers of the services' events, such as ``FollowedVersion``.
    var background: [any Service] { get }
}

extension Feature {
    var section: APISection { APISection("\(Self.self)", "") }
    var background: [any Service] { [] }
}

/// A section of the API's document.
struct APISection: Sendable {
    /// One to three words, such as "Messages".
    let title: String
    /// A few sentences, in Markdown.
    let introduction: String

    init(_ title: String, _ introduction: String) {
        self.title = title
        self.introduction = introduction
    }
}

/// All features of the gateway. A new feature is a new folder, or a file of a folder, and a line here.
struct Features: Sendable {
    let credentials: Credentials
    let devices: DeviceAccess
    let cube: CubeService
    let broadcasts: BroadcastService
    private let all: [any Feature]

    /// - Throws: ``ConfigurationError``, or `BusError`.
    ///
    /// - Parameter maxConnections: The maximum number of connections; event streams get a share of it.
    init(
        bus: Bus, settings: SettingValues, certificate: CurrentCertificate? = nil, maxConnections: Int = 1_000, logger: Logger
    ) throws {
        let clients = try ServiceClients(bus: bus, settings: settings, logger: logger)
        let credentials = try Credentials(
            people: clients[.people], bus: bus, endpoints: settings.value(.endpoints(of: .people, .events)),
            grace: Duration(try settings.value(.gatewayPeopleGrace)), logger: logger)
        self.credentials = credentials
        let devices = try DeviceAccess(
            people: clients[.people], bus: bus, endpoints: settings.value(.endpoints(of: .people, .events)), logger: logger)
        self.devices = devices
        let cube = try CubeRoutes(client: clients[.cube], bus: bus, settings: settings, logger: logger)
        self.cube = cube.service
        let broadcasts = try BroadcastRoutes(
            client: clients[.broadcast], cube: cube.service, bus: bus, settings: settings, logger: logger)
        self.broadcasts = broadcasts.service
        let health = HealthCheck(
            clients: clients, parts: certificate.map { current in ["certificate": { current.health }] } ?? [:],
            copies: [
                .people: { credentials.usableUntil }, .cube: { cube.service.copyUsableUntil },
                .broadcast: { broadcasts.service.copyUsableUntil },
            ])
        let events = try EventHub(
            bus: bus, cube: cube.service, health: health, access: EventAccess(cube: cube.service, credentials: credentials),
            settings: settings,
            logger: logger)
        let personEvents = try PersonEventHub(
            bus: bus, people: settings.value(.endpoints(of: .people, .events)),
            study: settings.value(.endpoints(of: .study, .events)), devices: devices, logger: logger)
        let streams = StreamLimits(maxConnections: maxConnections)
        let publicURL = try GatewayAccess(settings).publicURL
        let running = RunningApps()
        let app = AppFiles(logger: logger)
        let map = try MapFiles(settings, product: app?.assets["study/campus.json"]?.body, logger: logger)
        let study = clients[.study]
        let described: [any Feature] = [
            cube,
            try MessageRoutes(
                cube: cube.service, messageLog: clients[.messageLog], settings: settings, logger: logger,
                lookUp: { try await credentials.find($0) }),
            PhoneRoutes(messageLog: clients[.messageLog], relay: clients[.fcmRelay], running: running, logger: logger),
            ReachRoutes(
                cube: cube.service, messageLog: clients[.messageLog], running: running,
                askAbove: try settings.live(.gatewayAskAbove)),
            broadcasts,
            StatisticsRoutes(cube: cube.service, messageLog: clients[.messageLog]),
            TemplateRoutes(cube: cube.service, messageLog: clients[.messageLog]),
            AuditRoutes(people: clients[.people], lookUp: { try await credentials.find($0) }),
            EventRoutes(hub: events, limits: streams),
            SessionRoutes(people: clients[.people], credentials: credentials, cube: cube.service),
            OpenIDRoutes(people: clients[.people], credentials: credentials, cube: cube.service, publicURL: publicURL),
            AccountRoutes(people: clients[.people], credentials: credentials, devices: devices),
            StudentAccountRoutes(people: clients[.people], devices: devices),
            SecondFactorRoutes(people: clients[.people], credentials: credentials),
            TokenRoutes(people: clients[.people], credentials: credentials),
            DeviceSignInRoutes(people: clients[.people], cube: cube.service, publicURL: publicURL),
            PersonRoutes(people: clients[.people]),
            DeviceRoutes(people: clients[.people], devices: devices),
            ProfileRoutes(people: clients[.people], study: study),
            FriendRoutes(people: clients[.people]),
            PersonEventRoutes(hub: personEvents, limits: streams, study: study),
            ErasureRoutes(clients: clients, devices: devices),
            ClassRoutes(study: study, people: clients[.people]),
            ClassKeyRoutes(study: study),
            RosterRoutes(study: study),
            StudySessionRoutes(study: study, people: clients[.people], devices: devices),
            PostRoutes(study: study),
            OwnSessionRoutes(study: study, people: clients[.people], logger: logger),
            StudyInformationRoutes(
                study: study,
                map: StudyMap(
                    of: map, tiles: try settings.optional(.mapTiles), attribution: try settings.optional(.mapAttribution))),
            MapRoutes(files: map),
            HealthRoutes(check: health),
            ProblemRoutes(),
            PortalRoutes(files: PortalFolders.besideExecutable.load(logger: logger)),
            AppRoutes(files: app),
            ProfessorPageRoutes(files: app),
            PushRoutes(
                webPush: try settings.webPushContact == nil ? nil : clients[.webpush], publicURL: publicURL),
        ]
        all = described + [OpenAPIRoutes(describing: described)]
    }

    var routes: [Route] { all.flatMap(\.routes) }
    /// The routes by the sections of the API's document.
    var sections: [OpenAPIDocument.Section] { all.map { ($0.section, $0.routes) } }
    var background: [any Service] { [credentials, devices] + all.flatMap(\.background) }
}

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
