import ServiceKit

/// Whether the values that the files have are those that the services work with: what is overridden, what waits for a reload or a restart,
/// and whether clients look for services where they listen.
struct SettingsInEffectCheck: Sendable {
    let installation: Installation
    let settings: SettingValues
    let processes: [RunningProcess]

    func findings() async -> [Finding] {
        let files = await installation.environmentFiles()
        let units = installation.layout == .packages ? await UnitState.all(of: processes.compactMap(\.unit)) : [:]
        return await overridden(files) + self.files() + former(files, units) + reloads(units) + endpoints()
    }

    // MARK: Overridden

    func overridden(_ files: [EnvironmentFile]) async -> [Finding] {
        let configuration = settings.configurationFile ?? ""
        let inFile = await namesOverridden(files).map { name -> Finding in
            let place =
                installation.credentials[name] ?? files.last { $0.unit == nil && $0.values[name] != nil }?.path
                ?? "the environment"
            return .warning(
                .configuration, "\(name) in \(configuration) has no effect, since \(place) has another value",
                "remove one of the two. What counts, the first one first: "
                    + (installation.layout == .packages
                        ? "a credential in \(Installation.credentialFolder), a unit's own file /etc/msi/UNIT.env, /etc/msi/cluster.env, "
                            + "/etc/msi/msi.env" : "the environment, then the file that MSI_CONFIG_FILE names"))
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

    /// The names in the configuration file that the environment of the services overrides. Units do not see that of this command.
    private func namesOverridden(_ files: [EnvironmentFile]) async -> [String] {
        guard installation.layout == .packages else { return settings.overriddenInFile }
        let environment = files.filter { $0.unit == nil }.reduce(into: [String: String]()) { $0.merge($1.values) { $1 } }
            .merging(installation.credentials) { $1 }
        // The check of the configuration names them.
        var mistakes: [String] = []
        return await SettingValues(environment: environment, mistakes: &mistakes).overriddenInFile
    }

    // MARK: Not in effect yet

    /// The environment of a process is that of its start.
    private func former(_ files: [EnvironmentFile], _ units: [String: UnitState]) async -> [Finding] {
        var findings: [Finding] = []
        for process in processes {
            guard let unit = process.unit else { continue }
            var own = files.filter { $0.unit == nil || $0.unit == unit }
            // Those of a drop-in.
            for path in units[unit]?.files ?? [] where !own.contains(where: { $0.path == path }) {
                if let file = await installation.environmentFile(path, of: unit) { own.append(file) }
            }
            findings += Self.former(process.environment, of: unit, own, units[unit])
        }
        return findings
    }

    /// - Parameters:
    ///   - environment: Of the process of a unit.
    ///   - files: Those that the unit reads, in their order.
    ///   - state: `nil` if systemd has not told it.
    static func former(
        _ environment: [String: String], of unit: String, _ files: [EnvironmentFile], _ state: UnitState?
    ) -> [Finding] {
        // Credentials override the files.
        let used = environment.filter { !$0.value.hasPrefix("/run/credentials/") }
        let credentials = Set(environment.keys).subtracting(used.keys)
        let expected = files.reduce(into: [String: String]()) { $0.merge($1.values) { $1 } }
        var findings: [Finding] = []
        let changed = expected.filter { name, value in used[name] != value && !credentials.contains(name) }.keys.sorted()
        if !changed.isEmpty {
            let paths = files.filter { file in changed.contains { file.values[$0] != nil } }.map(\.path)
            findings.append(
                .warning(
                    .configuration,
                    "\(unit) still works without the values that \(paths.joined(separator: " or ")) has for "
                        + changed.joined(separator: ", "), "systemctl restart \(unit)"))
        }
        // If a path of a file has wildcards, its variables are not known.
        guard let state, !state.hasFilePatterns else { return findings }
        let known = state.variables.union(expected.keys)
        let removed = used.keys.filter { $0.hasPrefix("MSI_") && !known.contains($0) }.sorted()
        if !removed.isEmpty {
            findings.append(
                .warning(
                    .configuration,
                    "\(unit) still works with \(removed.joined(separator: ", ")), which its files and the unit do not have any more",
                    "systemctl restart \(unit)"))
        }
        return findings
    }
}
