import Base
import ServiceKit

/// The limits and the executables of the running services.
struct ProcessCheck: Sendable {
    private let installation: Installation
    private let processes: [RunningProcess]
    private let supervisor: RunningSupervisor?
    private let maxConnections: Int
    /// The ports that `msi up` needs, with their settings.
    private let ports: [(setting: SettingDeclaration, port: Int)]

    /// The descriptors that a service needs for the bus, the databases and its files.
    private static let minDescriptors = 1_024

    /// - Throws: ``ConfigurationError``.
    init(installation: Installation, settings: SettingValues, processes: [RunningProcess], supervisor: RunningSupervisor?) throws
    {
        self.installation = installation
        self.processes = processes
        self.supervisor = supervisor
        maxConnections = try settings.value(.gatewayMaxConnections)
        let used: [Setting<Int>] = try settings.usesFCM ? [.gatewayPort, .fcmEmulatorPort] : [.gatewayPort]
        ports = try used.map { ($0.declaration, try settings.value($0)) }
    }

    var findings: [Finding] {
        guard !processes.isEmpty || supervisor != nil else { return takenPorts }
        let findings =
            stoppedSupervisor + processes.compactMap(stopped) + processes.compactMap(descriptors)
            + processes.compactMap(executable)
        return findings.isEmpty
            ? [
                .ok(
                    .processes, "\(processes.count) processes run, each with enough file descriptors and the installed executable"
                )
            ] : findings
    }

    /// While nothing of the product runs, the ports that another program has. With the packages systemd may have one.
    private var takenPorts: [Finding] {
        guard installation.layout == .build else { return [] }
        return ports.filter { $0.port > 0 }.compactMap { setting, port in
            LoopbackPort.obstacle(port).map { reason in
                .failure(
                    .processes, "port \(port) of \(setting.name) cannot be used: \(reason)",
                    "stop the program that has it (ss -ltnp shows it), or choose another port with \(setting.name)")
            }
        }
    }

    private var stoppedSupervisor: [Finding] {
        guard let supervisor, supervisor.isStopped else { return [] }
        return [
            .failure(
                .processes,
                "msi up (process \(supervisor.id)) is stopped (SIGSTOP, or Ctrl-Z in a terminal): a service that ends is not started again",
                "kill -CONT \(supervisor.id)")
        ]
    }

    /// The check of the bus reports it for services with commands.
    private func stopped(_ process: RunningProcess) -> Finding? {
        guard process.isStopped, !process.service.sockets.contains(.commands) else { return nil }
        return .failure(
            .processes,
            "\(process.service.executable) (process \(process.id)) is stopped (SIGSTOP, or Ctrl-Z in a terminal), and answers nothing",
            process.resume)
    }

    private func descriptors(_ process: RunningProcess) -> Finding? {
        let needed = Self.minDescriptors + (process.service == .gateway ? maxConnections : 0)
        guard let limit = process.maxDescriptors, limit < needed else { return nil }
        return .warning(
            .descriptors, "\(process.service.executable) may open \(limit) files and connections, and needs up to \(needed)",
            installation.layout == .packages ? "LimitNOFILE= in the unit" : "ulimit -Hn 65536 before the start")
    }

    private func executable(_ process: RunningProcess) -> Finding? {
        guard process.isOutdated else { return nil }
        return .warning(
            .processes, "\(process.service.executable) (process \(process.id)) runs an executable that has been replaced since",
            process.unit.map { "systemctl restart \($0)" }
                ?? (process.isSupervised ? "restart deploy/run" : "end process \(process.id), and start the service again"))
    }
}

/// Whether all services, and this command, are of one version.
struct VersionCheck: Sendable {
    /// The versions by the services' names and endpoints. Empty if none has answered.
    let versions: [String: String]
    let installation: Installation

    var findings: [Finding] {
        guard !versions.isEmpty else { return [] }
        let others = versions.filter { $0.value != productVersion }.map { "\($0.key) is \($0.value)" }.sorted()
        guard !others.isEmpty else { return [.ok(.versions, "all services are of version \(productVersion)")] }
        return [
            .warning(
                .versions, "this command is of version \(productVersion), but \(others.joined(separator: ", "))",
                installation.layout == .packages
                    ? "finish the upgrade: apt install all packages of one version" : "restart deploy/run")
        ]
    }
}
