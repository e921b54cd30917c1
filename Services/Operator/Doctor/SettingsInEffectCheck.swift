import Glibc
import Schemas
import ServiceKit

/// Compares the settings in the files with those that the services use: which are overridden, and which take effect only after a reload
/// or a restart.
struct SettingsInEffectCheck: Sendable {
    let installation: Installation
    let settings: SettingValues
    let processes: [RunningProcess]
    /// What the services have said on the bus about themselves, by their processes.
    let reports: [Int32: ServiceReport]

    func findings() async -> [Finding] {
        let units = installation.layout == .packages ? await UnitState.statuses(of: processes.compactMap(\.unit)) : [:]
        return await overridden() + files() + environmentFiles + reloads(units)
    }

    // MARK: Overridden

    /// The names in the configuration file that have no effect. A unit reports them; for a unit without a report they follow from its
    /// process's environment, and in a build from this command's environment.
    func overridden() async -> [Finding] {
        let file = settings.configurationFile ?? "the configuration file"
        guard installation.layout == .packages else {
            return settings.overriddenInFile.map {
                .warning(
                    .configuration, "\($0) in \(file) has no effect, since the environment has another value",
                    "remove one of the two: the environment counts, then the file that MSI_CONFIG_FILE names")
            }
        }
        var units: [(name: String, service: ServiceEntry, overridden: [String])] = []
        for process in processes {
            guard let unit = process.unit else { continue }
            var names = reports[process.id]?.overridden
            if names == nil { names = await process.settings().overriddenInFile }
            units.append((unit, process.service, names ?? []))
        }
        return Self.overridden(units, in: file)
    }

    /// - Parameters:
    ///   - units: The units that run, with the names in the configuration file that have no effect there.
    ///   - file: The configuration file.
    static func overridden(_ units: [(name: String, service: ServiceEntry, overridden: [String])], in file: String) -> [Finding] {
        Set(units.flatMap(\.overridden)).sorted().map { name -> Finding in
            let others = units.filter { $0.overridden.contains(name) }.map(\.name).joined(separator: ", ")
            let readers = units.filter { unit in
                (SettingDeclaration.common + unit.service.settings).contains { $0.name == name || $0.file?.name == name }
            }
            guard readers.allSatisfy({ $0.overridden.contains(name) }) else {
                return .ok(.configuration, "\(name) in \(file) does not apply to \(others), which another file gives a value")
            }
            return .warning(
                .configuration, "\(name) in \(file) has no effect: another file or a credential gives \(others) another value",
                "remove one of the two. What counts, the first one first: a credential in \(Installation.credentialFolder), a unit's "
                    + "own file /etc/msi/UNIT.env, /etc/msi/cluster.env, /etc/msi/msi.env")
        }
    }

    /// Whether this command reads the same configuration file as the processes of `msi up`. Units have theirs from the packages, and what is
    /// started by hand may have another one.
    private func files() async -> [Finding] {
        guard installation.layout == .build else { return [] }
        var others: [String?: [String]] = [:]
        for process in processes where process.isSupervised {
            let file = await process.settings().configurationFile
            let isSame =
                file == settings.configurationFile || RunningProcess.isSameFile(file ?? "", settings.configurationFile ?? "")
            if !isSame { others[file, default: []].append(process.service.executable) }
        }
        let name = SettingDeclaration.configFile.name
        return others.sorted { ($0.key ?? "") < ($1.key ?? "") }.map { file, services in
            .warning(
                .configuration,
                "this command reads \(settings.configurationFile ?? "no configuration file"), and \(file ?? "none") was given to "
                    + services.joined(separator: ", "),
                file.map { "run it with the same one: \(name)=\($0.shellQuoted) msi doctor" }
                    ?? "run it without \(name), or stop msi up, and start it with \(name)")
        }
    }

    // MARK: Not in effect yet

    /// A unit reads the files of its environment only at its start.
    private var environmentFiles: [Finding] {
        var behind: [String: [String]] = [:]
        for process in processes {
            guard let unit = process.unit, let started = process.started else { continue }
            let own = "/etc/msi/\(unit.hasSuffix(".service") ? String(unit.dropLast(".service".count)) : unit).env"
            for file in [installation.executables + Installation.packagesFile, "/etc/msi/cluster.env", own]
            where FileTime.lastReplacement(of: file).map({ $0 > started }) ?? false {
                behind[file, default: []].append(unit)
            }
        }
        return behind.sorted { $0.key < $1.key }.map { file, units in
            .warning(
                .configuration, "\(file) has changed since the start of \(units.joined(separator: ", "))",
                "systemctl restart \(units.joined(separator: " "))")
        }
    }

    /// The changed settings that the services report.
    private func reloads(_ units: [String: String]) async -> [Finding] {
        var findings: [Finding] = []
        var behind: [String: [String]] = [:]
        for process in processes {
            guard let status = status(of: process, units) else { continue }
            let name = process.unit ?? process.service.executable
            if !status.needingRestart.isEmpty {
                findings.append(
                    .warning(
                        .configuration,
                        "\(name) still works with the old values of \(status.needingRestart.joined(separator: ", "))",
                        process.restart))
            }
            if let mistake = status.mistake {
                findings.append(
                    .warning(
                        .configuration, "\(name) has refused the settings at its last reload: \(mistake)",
                        "correct it, and then: \(process.unit.map { "systemctl reload \($0)" } ?? hangUp(process))"))
                continue
            }
            // A unit and this command read the same file; another process may read another one.
            let file = process.unit == nil ? await process.settings().configurationFile : settings.configurationFile
            if let file, let changed = FileTime.lastReplacement(of: file), changed.seconds > status.read.seconds {
                behind[file, default: []].append(name)
            }
        }
        return findings
            + behind.sorted { $0.key < $1.key }.map { file, names in
                .warning(
                    .configuration, "\(file) has changed since these have read it: \(names.joined(separator: ", "))",
                    installation.layout == .packages
                        ? "systemctl reload msi.target; then msi doctor names what needs a restart"
                        : "kill -HUP the process of msi up, or of a service without one; then msi doctor names what needs a restart"
                )
            }
    }

    /// What the service says on the bus, or else what it has told its manager.
    private func status(of process: RunningProcess, _ units: [String: String]) -> SettingsStatus? {
        if let report = reports[process.id] { return report.settings }
        if let unit = process.unit { return units[unit].flatMap { SettingsStatus($0) } }
        guard process.isSupervised, let folder = try? settings.value(.stateDirectory) else { return nil }
        return StatusFile(of: process.service, in: folder + "/log").read().flatMap { SettingsStatus($0) }
    }

    private func hangUp(_ process: RunningProcess) -> String {
        let supervisor = process.isSupervised ? RunningSupervisor.find(installation, settings) : nil
        return supervisor.map { "kill -HUP \($0.id), which is msi up" } ?? "kill -HUP \(process.id)"
    }
}

extension RunningProcess {
    /// How the operator restarts it.
    fileprivate var restart: String {
        unit.map { "systemctl restart \($0)" }
            ?? (isSupervised ? "stop msi up, and start it again" : "end process \(id), and start it again")
    }
}

/// When files were changed.
enum FileTime {
    /// The time of the last change of a file's content; `nil` if this user cannot see it.
    static func lastChange(of path: String) -> UnixMilliseconds? { status(of: path).map { time($0.st_mtim) } }

    /// When a file was last changed or replaced. A replacement, such as a copy that keeps an older modification time, shows in `ctime`.
    static func lastReplacement(of path: String) -> UnixMilliseconds? {
        status(of: path).map { max(time($0.st_mtim), time($0.st_ctim)) }
    }

    private static func status(of path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }

    private static func time(_ time: timespec) -> UnixMilliseconds {
        UnixMilliseconds(rawValue: Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000)
    }
}
