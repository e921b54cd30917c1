/// One service of the product: everything about it that others have to know, declared once.
///
/// `msi up`, the settings of endpoints, `GET /health`, the tests' stacks and the chaos run derive from the entries. A new service
/// is a new entry, and a word in ``all``.
package struct ServiceEntry: Sendable {
    /// What the service is called in `GET /health`. Its executable, its sockets and its settings are named after it.
    package let name: String
    /// What the service does, for `--help`.
    package let summary: String
    /// The TCP port on 127.0.0.1 on which it takes HTTP requests.
    package let port: Setting<Int>?
    /// The sockets of the bus on which it listens.
    package let sockets: [BusSocket]
    /// The services of the bus that it talks to, and on which of their sockets.
    package let uses: [BusUse]
    /// Services that have to be ready before `msi up` starts this one, beside those that it uses.
    package let startsAfter: [ServiceEntry]
    /// On which of its sockets the gateway talks to it. A service that takes the gateway's commands is asked by `GET /health`.
    package let gatewayUses: [BusSocket]
    /// Whether it keeps data, in the database of `MSI_DATABASE_URL` or in files.
    package let keepsData: Bool
    /// The names of its files and folders in the state directory.
    package let stateFiles: [String]
    /// What it is called in the summaries of its sockets' settings, in the singular.
    let title: String
    /// What clients use its commands for: it completes "The FCM relays …".
    let purpose: String
    private let ownSettings: [SettingDeclaration]

    init(
        _ name: String, _ summary: String, title: String, purpose: String = "to ask", port: Setting<Int>? = nil,
        sockets: [BusSocket] = [], uses: [BusUse] = [], startsAfter: [ServiceEntry] = [], gatewayUses: [BusSocket] = [],
        keepsData: Bool = false, stateFiles: [String] = [], settings: [SettingDeclaration] = []
    ) {
        self.name = name
        self.summary = summary
        self.title = title
        self.purpose = purpose
        self.port = port
        self.sockets = sockets
        self.uses = uses
        self.startsAfter = startsAfter
        self.gatewayUses = gatewayUses
        self.keepsData = keepsData
        self.stateFiles = stateFiles
        ownSettings = settings
    }

    /// The executable's name.
    package var executable: String { "msi-" + name }

    /// The services that have to be ready before `msi up` starts this one.
    package var startDependencies: [ServiceEntry] { uses.map(\.service) + startsAfter }

    /// The settings that the service reads, beside the common ones.
    package var settings: [SettingDeclaration] {
        (keepsData ? SettingDeclaration.database : [])
            + (port.map { [$0.declaration] } ?? [])
            + sockets.map { Setting<String>.listen(self, $0).declaration }
            + ownSettings
            + uses.flatMap { use in use.sockets.map { Setting<[String]>.endpoints(of: use.service, $0).declaration } }
    }
}

extension ServiceEntry: Hashable {
    package static func == (one: ServiceEntry, other: ServiceEntry) -> Bool { one.name == other.name }

    package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
