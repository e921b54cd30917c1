import Glibc
import Schemas
import ServiceKit

extension SettingsInEffectCheck {
    /// By what the services say about themselves: to systemd, or to `msi up`.
    func reloads(_ units: [String: UnitState]) async -> [Finding] {
        var findings: [Finding] = []
        /// By the file.
        var (behind, unknown): ([String: [String]], [String: [String]]) = ([:], [:])
        for process in processes {
            let name = process.unit ?? process.service.executable
            let status = status(of: process, units)
            if let names = status?.needingRestart, !names.isEmpty {
                findings.append(
                    .warning(
                        .configuration, "\(name) works with the former values of \(names.joined(separator: ", "))",
                        process.unit.map { "systemctl restart \($0)" } ?? process.restart))
            }
            if let mistake = status?.mistake {
                findings.append(
                    .warning(
                        .configuration, "\(name) has refused the settings at its last reload: \(mistake)",
                        "correct it, and then: \(process.unit.map { "systemctl reload \($0)" } ?? reload(of: process))"))
                continue
            }
            // A unit and this command read the same file; another process may read another one.
            let file = process.unit == nil ? await process.settings().configurationFile : settings.configurationFile
            guard let file, let changed = FileTime.lastChange(of: file), let started = process.started,
                changed.seconds > (status?.read ?? started).seconds
            else { continue }
            if status == nil, process.unit == nil {
                unknown[file, default: []].append(name)
            } else {
                behind[file, default: []].append(name)
            }
        }
        findings += behind.sorted { $0.key < $1.key }.map { file, names in
            .warning(
                .configuration, "\(file) has changed since these have read it: \(names.joined(separator: ", "))",
                installation.layout == .packages
                    ? "systemctl reload msi.target; then msi doctor names what needs a restart"
                    : "\(hangUp); it says what needs a restart")
        }
        findings += unknown.sorted { $0.key < $1.key }.map { file, names in
            .ok(
                .configuration,
                "\(file) has changed since the start of \(names.joined(separator: ", ")). SIGHUP lets them read it again; "
                    + "whether they have done so is known only from their own logs")
        }
        return findings
    }

    /// How the operator lets a process that no unit runs read its settings again.
    private func reload(of process: RunningProcess) -> String { process.isSupervised ? hangUp : "kill -HUP \(process.id)" }

    private var hangUp: String {
        RunningSupervisor.find(installation, settings).map { "kill -HUP \($0.id), which is msi up" } ?? "send SIGHUP to msi up"
    }

    private func status(of process: RunningProcess, _ units: [String: UnitState]) -> SettingsStatus? {
        if let unit = process.unit { return units[unit]?.status.flatMap { SettingsStatus($0) } }
        guard process.isSupervised, let folder = try? settings.value(.stateDirectory) else { return nil }
        return StatusFile(of: process.service, in: folder + "/log").read().flatMap { SettingsStatus($0) }
    }

    /// Whether this command reads the same configuration file as the processes of `msi up`. Units have theirs from the packages, and what is
    /// started by hand may have one of its own.
    func files() async -> [Finding] {
        guard installation.layout == .build else { return [] }
        var others: [String?: [String]] = [:]
        for process in processes where process.isSupervised {
            let file = await process.settings().configurationFile
            let isSame =
                if let file, let own = settings.configurationFile {
                    RunningProcess.isSameFile(file, own)
                } else {
                    file == settings.configurationFile
                }
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
}

extension RunningProcess {
    /// How the operator restarts a process that no unit runs.
    fileprivate var restart: String { isSupervised ? "stop msi up, and start it again" : "end process \(id), and start it again" }
}

/// When files were changed.
enum FileTime {
    /// The time of the last change of a file's content; `nil` if this user cannot see it.
    static func lastChange(of path: String) -> UnixMilliseconds? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return UnixMilliseconds(rawValue: Int64(status.st_mtim.tv_sec) * 1_000 + Int64(status.st_mtim.tv_nsec) / 1_000_000)
    }
}
