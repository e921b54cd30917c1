package import Bus
package import Logging

extension BusSecurity {
    /// The protection that the settings choose: keys, or none, which the operator has to allow for other interfaces.
    ///
    /// - Throws: ``ConfigurationError`` if a file is missing or has a mistake. It does not contain the secret key.
    package init(_ settings: SettingValues, logger: Logger) throws {
        let (key, peers) = (Setting.busKeyFile, Setting.busPeersFile)
        let isUnencrypted = try settings.value(.busUnencrypted)
        switch (try settings.optional(key), try settings.optional(peers)) {
        case (nil, nil):
            self = isUnencrypted ? .unencrypted : .loopbackOnly
        case (let keyPath?, let peersPath?):
            guard !isUnencrypted else {
                throw ConfigurationError(
                    "\(Setting.busUnencrypted.declaration.name) is true, and \(key.declaration.name) is set: leave one of them out"
                )
            }
            guard let own = BusKeyPair(secret: try OperatorFile.text(at: keyPath, of: key.declaration)) else {
                throw ConfigurationError(
                    "\(key.declaration.name): \(keyPath) does not hold a secret key of 40 characters, as msi keys new writes it")
            }
            if let warning = FilePermissions.warning(about: keyPath) { logger.warning("\(warning)") }
            do {
                self = try .encrypted(with: own, peersFile: peersPath, logger: logger)
            } catch {
                throw ConfigurationError("\(peers.declaration.name): \(error)")
            }
        case (nil, _?):
            throw ConfigurationError(
                "\(peers.declaration.name) is set, and \(key.declaration.name) is not: a list of peers needs this machine's key")
        case (_?, nil):
            throw ConfigurationError(
                "\(key.declaration.name) is set, and \(peers.declaration.name) is not: a key needs the list of peers")
        }
    }
}

extension Bus {
    /// A bus whose `tcp://` endpoints are protected as the settings say.
    ///
    /// - Throws: ``ConfigurationError``, or ``BusError`` if the system has no resources for it.
    package convenience init(_ settings: SettingValues, logger: Logger) throws {
        try self.init(security: BusSecurity(settings, logger: logger), logger: logger)
    }
}

extension ServiceEntry {
    /// Whether it has sockets on the bus, or uses those of other services.
    package var usesBus: Bool { !sockets.isEmpty || !uses.isEmpty }

    /// Checks the endpoints of the settings together with the keys.
    ///
    /// - Returns: One sentence for each setting with hosts that have no key. They do not keep a service from starting: the list of peers may
    ///   change while it runs, and a machine that was removed must not stop the services of the others.
    /// - Throws: ``ConfigurationError``.
    func checkBus(_ settings: SettingValues, logger: Logger) throws -> [String] {
        guard usesBus else { return [] }
        let security = try BusSecurity(settings, logger: logger)
        for socket in sockets {
            _ = try settings.optional(.listen(self, socket), as: { try security.check(Endpoint($0)) })
        }
        var problems: [String] = []
        for setting in usedEndpoints {
            guard let missing = try settings.optional(setting, as: { try Self.hostsWithoutKey($0, security) }), !missing.isEmpty
            else { continue }
            problems.append(
                "\(setting.declaration.name): \(missing.joined(separator: ", ")): the list of "
                    + "\(Setting.busPeersFile.declaration.name) has no key with the name of "
                    + (missing.count == 1 ? "this host" : "these hosts"))
        }
        return problems
    }

    /// The settings with the endpoints of the services that it uses.
    private var usedEndpoints: [Setting<[String]>] {
        uses.flatMap { use in use.sockets.map { Setting<[String]>.endpoints(of: use.service, $0) } }
    }

    /// How long the lookup of all names may take. It is longer than the five seconds of the resolver's first try of a server.
    private static let lookupTimeout = Duration.seconds(6)

    /// Looks up the host names of the endpoints where the bus has no keys. A client refuses a name with an address of another machine.
    ///
    /// - Returns: One sentence for each refused name, and for each whose lookup takes too long. A name without an address is not
    ///   refused: it may get one.
    /// - Throws: ``ConfigurationError``.
    func checkNames(_ settings: SettingValues, logger: Logger) async throws -> [String] {
        guard usesBus, case .loopbackOnly = try BusSecurity(settings, logger: logger) else { return [] }
        let endpoints = try usedEndpoints.flatMap { setting in
            let own = try settings.optional(setting, as: { try ClientEndpoints($0).fixed.map { try Endpoint($0) } }) ?? []
            return own.map { (setting.declaration.name, $0) }
        }
        // Concurrently: a name server that does not answer delays each by its timeout.
        return await withTaskGroup(of: (Int, String?).self) { lookups in
            for (index, (name, endpoint)) in endpoints.enumerated() {
                lookups.addTask {
                    (index, await endpoint.refusalWithoutKeys(within: Self.lookupTimeout).map { "\(name): \($0)" })
                }
            }
            let found = await lookups.reduce(into: [:]) { $0[$1.0] = $1.1 }
            return endpoints.indices.compactMap { found[$0] ?? nil }
        }
    }

    private static func hostsWithoutKey(_ endpoints: [String], _ security: BusSecurity) throws -> [String] {
        try ClientEndpoints(endpoints).fixed.filter { text in
            let endpoint = try Endpoint(text)
            try security.check(endpoint)
            guard case .encrypted(let keyRing) = security, case .tcp = endpoint else { return false }
            return keyRing.keys(of: endpoint).isEmpty
        }
    }
}

extension Setting where Value == String {
    package static let busKeyFile = secretFile(
        "bus.key.file",
        "A file with this machine's secret key for tcp:// endpoints of the bus, made by msi keys new. It encrypts them.")

    package static let busPeersFile = text(
        "bus.peers.file",
        "A file with the names and public keys of the machines that may use the bus over tcp://; it is read again when it changes.",
        expected: "a file")
}

extension Setting where Value == Bool {
    package static let busUnencrypted = Setting(
        "bus.unencrypted",
        """
        Whether tcp:// endpoints of the bus may be on other interfaces than the loopback one without keys. Then everyone in that network \
        can read and send commands.
        """,
        expected: "true or false", default: "false"
    ) { ["true": true, "false": false][$0] }
}

extension SettingDeclaration {
    /// The settings of everything that uses the bus.
    package static let bus: [SettingDeclaration] = [
        Setting.busKeyFile.declaration, Setting.busPeersFile.declaration, Setting.busUnencrypted.declaration,
    ]
}
