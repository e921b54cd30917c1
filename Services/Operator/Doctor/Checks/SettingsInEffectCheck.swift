import CommandBus
import FoundationEssentials
import Glibc
import Schemas
import ServiceKit
import Subprocess
import SystemPackage

/// Whether the values that the files have are those that the services work with: what is overridden, what waits for a reload or a restart,
/// and whether clients look for services where they listen.
struct SettingsInEffectCheck: Sendable {
    let installation: Installation
    let settings: SettingValues
    let processes: [RunningProcess]

    func findings() async -> [Finding] {
        let files = await installation.environmentFiles()
        return overridden(files) + former(files) + (await reloads()) + (await endpoints())
    }

    // MARK: Overridden

    private func overridden(_ files: [EnvironmentFile]) -> [Finding] {
        let configuration = settings.configurationFile ?? ""
        let inFile = settings.overriddenInFile.map { name -> Finding in
            let place = files.last { $0.unit == nil && $0.values[name] != nil }?.path ?? "the environment"
            return .warning(
                .configuration, "\(name) in \(configuration) has no effect, since \(place) has another value",
                "remove one of the two. What counts, the first one first: "
                    + (installation.layout == .packages
                        ? "a unit's own file /etc/msi/UNIT.env, /etc/msi/cluster.env, /etc/msi/msi.env"
                        : "the environment, then the file that MSI_CONFIG_FILE names"))
        }
        let shared = files.filter { $0.unit == nil }
        return inFile
            + files.compactMap { file in
                guard let unit = file.unit else { return nil }
                let names = file.values.keys.filter { name in
                    shared.contains { $0.values[name].map { $0 != file.values[name] } ?? false }
                }
                return names.isEmpty
                    ? nil
                    : .ok(
                        .configuration,
                        "\(unit) has values of its own, in \(file.path): \(names.sorted().joined(separator: ", "))")
            }
    }

    // MARK: Not in effect yet

    /// The environment of a process is that of its start.
    private func former(_ files: [EnvironmentFile]) -> [Finding] {
        processes.compactMap { process in
            guard let unit = process.unit else { return nil }
            let expected = files.filter { $0.unit == nil || $0.unit == unit }.reduce(into: [String: String]()) {
                $0.merge($1.values) { $1 }
            }
            // Credentials override the files.
            let names = expected.filter { name, value in
                process.environment[name] != value && process.environment[name]?.hasPrefix("/run/credentials/") != true
            }.keys.sorted()
            guard !names.isEmpty else { return nil }
            return .warning(
                .configuration,
                "\(unit) still works without the values that \(paths(of: names, files, unit)) has for \(names.joined(separator: ", "))",
                "systemctl restart \(unit)")
        }
    }

    private func paths(of names: [String], _ files: [EnvironmentFile], _ unit: String) -> String {
        let paths = files.filter { file in (file.unit == nil || file.unit == unit) && names.contains { file.values[$0] != nil } }
        return paths.map(\.path).joined(separator: " or ")
    }

    /// By what the services say about themselves, if a service manager passes it on.
    private func reloads() async -> [Finding] {
        guard let file = settings.configurationFile else { return [] }
        let changed = FileTime.lastChange(of: file)
        var findings: [Finding] = []
        var behind: [String] = []
        let statuses = installation.layout == .packages ? await UnitStatus.texts(of: processes.compactMap(\.unit)) : [:]
        for process in processes {
            let name = process.unit ?? process.service.executable
            let status = process.unit.flatMap { statuses[$0] }.flatMap { SettingsStatus($0) }
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
            } else if let changed, let read = status?.read ?? lastReload(of: process, after: changed) ?? process.started,
                changed.seconds > read.seconds
            {
                behind.append(name)
            }
        }
        guard !behind.isEmpty else { return findings }
        let advice =
            installation.layout == .packages
            ? "systemctl reload msi.target; then msi doctor names what needs a restart"
            : "send SIGHUP to msi up, or to the service; it says what needs a restart"
        return findings + [
            .warning(.configuration, "\(file) has changed since these have read it: \(behind.joined(separator: ", "))", advice)
        ]
    }

    /// What `msi up` keeps of a service's log says when it has read its settings again.
    private func lastReload(of process: RunningProcess, after time: UnixMilliseconds) -> UnixMilliseconds? {
        guard installation.layout == .build, let folder = try? settings.value(.stateDirectory),
            let log = try? Data(contentsOf: URL(filePath: "\(folder)/log/\(process.service.executable).log"))
        else { return nil }
        let signs: Set = ["the settings were read again", "a setting has changed", "takes effect only after a restart"]
        return LogFolder.lines(of: log.suffix(256 << 10), with: signs).compactMap { LogRecord(line: $0)?.time }.last {
            $0 >= time
        }
    }

    // MARK: Endpoints

    /// Clients that look for a service elsewhere than where it listens, although it runs on this machine.
    private func endpoints() async -> [Finding] {
        var values: [(process: RunningProcess, settings: SettingValues)] = []
        for process in processes {
            // What is wrong with its settings, the check of the configuration says.
            if let settings = try? await process.settings() { values.append((process, settings)) }
        }
        var (texts, clients, advice): ([String], [String: [String]], [String: String]) = ([], [:], [:])
        for (process, own) in values {
            for use in process.service.uses {
                let setting = Setting<[String]>.endpoints(of: use.service)
                let listeners = values.filter { $0.process.service == use.service }.compactMap { listener in
                    (try? listener.settings.value(.listen(use.service))).map { (id: listener.process.id, endpoint: $0) }
                }
                guard use.sockets.contains(.commands), let first = listeners.first, let used = try? own.value(setting),
                    let current = try? ClientEndpoints(used).current, current.allSatisfy({ $0.hasPrefix("ipc://") }),
                    !listeners.contains(where: { current.contains($0.endpoint) })
                else { continue }
                let text =
                    "\(use.service.executable) (process \(first.id)) listens at \(first.endpoint), and is looked for at "
                    + used.joined(separator: ", ")
                if clients[text] == nil { texts.append(text) }
                clients[text, default: []].append(process.unit ?? process.service.executable)
                advice[text] =
                    "let \(setting.declaration.name) of the clients and "
                    + "\(Setting<String>.listen(use.service).declaration.name) of \(use.service.executable) agree, and restart them"
            }
        }
        return texts.map {
            .failure(.sockets, "\($0) by \((clients[$0] ?? []).joined(separator: ", "))", advice[$0] ?? "")
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

/// What services have told systemd about themselves.
enum UnitStatus {
    /// The texts by the names of the units. Those without one are missing.
    static func texts(of units: [String]) async -> [String: String] {
        guard !units.isEmpty,
            let result = try? await Subprocess.run(
                .name("systemctl"), arguments: Arguments(["show", "--property=Id", "--property=StatusText"] + units),
                output: .string(limit: 1 << 18), error: .discarded)
        else { return [:] }
        return parse(result.standardOutput)
    }

    /// Blocks of `Id=…` and `StatusText=…`, separated by empty lines.
    static func parse(_ output: String) -> [String: String] {
        output.split(separator: "\n\n").reduce(into: [:]) { texts, block in
            let lines = block.split(separator: "\n")
            func value(_ name: String) -> String? {
                lines.first { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 1)) }
            }
            if let id = value("Id"), let text = value("StatusText"), !text.isEmpty { texts[id] = text }
        }
    }
}
