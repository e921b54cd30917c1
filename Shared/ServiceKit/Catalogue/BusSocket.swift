/// A socket of the bus on which a service listens.
package enum BusSocket: Hashable, Sendable {
    /// Takes commands.
    case commands
    /// Publishes events.
    case events
}

/// A service of the bus that another service uses.
package struct BusUse: Hashable, Sendable {
    package let service: ServiceEntry
    package let sockets: [BusSocket]
    /// Whether `msi up` starts the user only when the service is ready. `false` if the user can wait for it for hours.
    package let isNeededAtStart: Bool

    init(service: ServiceEntry, sockets: [BusSocket], isNeededAtStart: Bool = true) {
        self.service = service
        self.sockets = sockets
        self.isNeededAtStart = isNeededAtStart
    }
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
