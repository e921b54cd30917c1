import CommandBus
import ServiceKit
import SystemPackage

/// The endpoints of a stack's processes. Port 0 is replaced by a free port here, because a restarted process must
/// listen on the same port.
struct StackEndpoints: Sendable {
    /// The values by the settings' names in the environment.
    private(set) var settings: [String: String] = [:]
    private var ports: [ServiceEntry: Int] = [:]

    /// - Throws: ``ConfigurationError``, or ``StartFailure`` if there is no free port.
    init(_ values: SettingValues) throws {
        for service in ServiceEntry.all {
            if let setting = service.port {
                let port = try Self.fixed(values.value(setting))
                ports[service] = port
                settings[setting.declaration.name] = String(port)
            }
            for socket in service.sockets {
                let setting = Setting<String>.listen(service, socket)
                let endpoint = try values.value(setting)
                if case .tcp(host: _, port: 0) = try Endpoint(endpoint), let colon = endpoint.lastIndex(of: ":") {
                    settings[setting.declaration.name] = "\(endpoint[..<colon]):\(try Self.fixed(0))"
                }
            }
        }
        // Another stack may have the usual port. Nothing but the greeting names the phone's port, so any other one will do.
        let phonePort = try values.value(.phonePort)
        let port = try Self.fixed(LoopbackPort.obstacle(phonePort) == nil ? phonePort : 0)
        ports[.phone] = port
        settings[Setting<Int>.phonePort.declaration.name] = String(port)
    }

    /// The port of a service whose entry has one.
    func port(of service: ServiceEntry) -> Int {
        guard let port = ports[service] else { preconditionFailure("\(service.name) has no port") }
        return port
    }

    /// Where a service takes commands.
    ///
    /// - Throws: ``ConfigurationError``.
    func commands(of service: ServiceEntry, _ values: SettingValues) throws -> String {
        let setting = Setting<String>.listen(service)
        return try settings[setting.declaration.name] ?? values.value(setting)
    }

    private static func fixed(_ port: Int) throws -> Int {
        guard port == 0 else { return port }
        do {
            return try LoopbackPort.free()
        } catch {
            throw StartFailure(description: "there is no free port: \(error)")
        }
    }
}
