import FoundationEssentials
import Glibc
import Schemas
import ServiceKit

extension SettingsInEffectCheck {
    /// By what the services say about themselves: to systemd, or in the log that `msi up` keeps.
    func reloads(_ units: [String: UnitState]) -> [Finding] {
        guard let file = settings.configurationFile else { return [] }
        let changed = FileTime.lastChange(of: file)
        var findings: [Finding] = []
        var (behind, unknown): ([String], [String]) = ([], [])
        for process in processes {
            let name = process.unit ?? process.service.executable
            let status = process.unit.flatMap { units[$0]?.status }.flatMap { SettingsStatus($0) }
            if let names = status?.needingRestart, !names.isEmpty {
                findings.append(
                    .warning(
                        .configuration, "\(name) works with the former values of \(names.joined(separator: ", "))",
                        "systemctl restart \(name)"))
            }
            if let mistake = status?.mistake {
                findings.append(
                    .warning(
                        .configuration, "\(name) has refused the settings at its last reload: \(mistake)",
                        "correct it, and then: systemctl reload \(name)"))
                continue
            }
            guard let changed, let started = process.started, changed.seconds > (status?.read ?? started).seconds else {
                continue
            }
            if process.unit != nil {
                behind.append(name)
            } else if let log = log(of: process) {
                if !Self.hasReload(in: log, after: changed) { behind.append(name) }
            } else {
                unknown.append(name)
            }
        }
        if !behind.isEmpty {
            findings.append(
                .warning(
                    .configuration, "\(file) has changed since these have read it: \(behind.joined(separator: ", "))",
                    installation.layout == .packages
                        ? "systemctl reload msi.target; then msi doctor names what needs a restart"
                        : "send SIGHUP to msi up; it says what needs a restart"))
        }
        if !unknown.isEmpty {
            findings.append(
                .ok(
                    .configuration,
                    "\(file) has changed since the start of \(unknown.joined(separator: ", ")). SIGHUP lets them read it again; "
                        + "whether they have done so is known only from their own logs"))
        }
        return findings
    }

    /// What `msi up` keeps of a service's log, the older part first; `nil` if it does not run the service, or there is none.
    private func log(of process: RunningProcess) -> [Data]? {
        guard process.isSupervised, let folder = try? settings.value(.stateDirectory) else { return nil }
        let path = "\(folder)/log/\(process.service.executable).log"
        let parts = [path + ".1", path].compactMap { try? Data(contentsOf: URL(filePath: $0)) }
        return parts.isEmpty ? nil : parts
    }

    /// Whether a service says that it has read its settings again.
    private static func hasReload(in log: [Data], after time: UnixMilliseconds) -> Bool {
        let signs: Set = ["the settings were read again", "a setting has changed", "takes effect only after a restart"]
        return log.flatMap { LogFolder.lines(of: $0, with: signs) }.compactMap { LogRecord(line: $0)?.time }.contains {
            $0 >= time
        }
    }
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
