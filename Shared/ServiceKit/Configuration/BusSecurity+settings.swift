package import CommandBus
package import Logging

extension BusSecurity {
    /// What the settings say: keys, or nothing, with or without the operator's consent.
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
    /// - Parameter allKeys: Whether a host without a key is an error. Otherwise it is a line in the log, since the list of peers may
    ///   change while the service runs: a machine that was removed must not keep the services of the others from starting.
    /// - Throws: ``ConfigurationError``.
    func checkBus(_ settings: SettingValues, allKeys: Bool, logger: Logger) throws {
        guard usesBus else { return }
        let security = try BusSecurity(settings, logger: logger)
        for socket in sockets {
            _ = try settings.optional(.listen(self, socket), as: { try security.check(Endpoint($0)) })
        }
        for use in uses {
            for socket in use.sockets {
                let setting = Setting<[String]>.endpoints(of: use.service, socket)
                guard let missing = try settings.optional(setting, as: { try Self.hostsWithoutKey($0, security) })
                else { continue }
                for text in missing {
                    let problem =
                        "\(setting.declaration.name): \(text): the list of \(Setting.busPeersFile.declaration.name) has no key with the "
                        + "name of this host"
                    if allKeys { throw ConfigurationError(problem) }
                    logger.warning("\(problem)")
                }
            }
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
