import ArgumentParser
import Base
import ServiceKit

/// `msi services`: the services that the product consists of, for a service manager's files and scripts.
struct ServicesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "services", abstract: "Lists the services of the product, each after those that it needs at its start.",
        discussion: "msi status says how the running ones are.")

    @Flag(name: .customLong("json"), help: "Print an array with everything that a service manager needs to know instead.")
    var printsJSON = false

    func run() throws {
        let services = (ServiceEntry.all + ServiceEntry.optional).map(DescribedService.init)
        guard !printsJSON else { return print(String(decoding: try JSONCoder.encode(services), as: UTF8.self)) }
        let width = services.map(\.executable.count).max() ?? 0
        for service in services {
            print(service.executable + String(repeating: " ", count: width + 2 - service.executable.count) + service.summary)
        }
    }
}

/// A service in JSON.
struct DescribedService: Encodable {
    let name: String
    let executable: String
    let summary: String
    /// Its sockets on the bus, each with the settings of its place and of its clients.
    let sockets: [Socket]
    /// The name of the setting for its TCP port.
    let portSetting: String?
    /// The services that it sends commands to or whose events it follows.
    let uses: [String]
    /// The services that must be ready before it is started.
    let startsAfter: [String]
    let mayHaveInstances: Bool
    /// Whether an operator sets it up and starts it by itself.
    let isOptional: Bool
    let keepsData: Bool
    /// Its files and folders in the state directory.
    let stateFiles: [String]
    let settings: [String]
    /// Those of ``settings`` that name a file with a secret.
    let secretFileSettings: [String]

    struct Socket: Encodable {
        let kind: String
        let listenSetting: String
        let endpointsSetting: String

        private enum CodingKeys: String, CodingKey {
            case kind
            case listenSetting = "listen_setting"
            case endpointsSetting = "endpoints_setting"
        }
    }

    init(_ service: ServiceEntry) {
        name = service.name
        executable = service.executable
        summary = service.summary
        sockets = service.sockets.map { socket in
            Socket(
                kind: socket == .commands ? "commands" : "events",
                listenSetting: Setting<String>.listen(service, socket).declaration.name,
                endpointsSetting: Setting<[String]>.endpoints(of: service, socket).declaration.name)
        }
        portSetting = service.port?.declaration.name
        uses = service.uses.map(\.service.name)
        startsAfter = service.startDependencies.map(\.name)
        mayHaveInstances = service.mayHaveInstances
        isOptional = ServiceEntry.optional.contains(service)
        keepsData = service.keepsData
        stateFiles = service.stateFiles
        settings = service.settings.map(\.name)
        secretFileSettings = service.settings.filter(\.namesSecretFile).map(\.name)
    }

    private enum CodingKeys: String, CodingKey {
        case name, executable, summary, sockets, uses, settings
        case portSetting = "port_setting"
        case startsAfter = "starts_after"
        case mayHaveInstances = "may_have_instances"
        case isOptional = "is_optional"
        case keepsData = "keeps_data"
        case stateFiles = "state_files"
        case secretFileSettings = "secret_file_settings"
    }
}
