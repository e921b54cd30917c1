import FoundationEssentials
import Glibc
import ServiceKit
import Subprocess
import SystemPackage

/// What `--check-config` of each service says about its settings and the files that they name.
struct ConfigurationCheck: Sendable {
    let installation: Installation
    let settings: SettingValues
    /// What is wrong with the environment and the configuration file as a whole.
    let mistakes: [String]
    let processes: [RunningProcess]

    private static let maxOutput = 1 << 18

    struct Result: Sendable {
        var findings: [Finding] = []
        /// The mistakes in the settings that the findings name.
        var problems: Set<String> = []
    }

    /// A line of a service.
    private struct Line: Hashable {
        let level: Finding.Level
        let text: String
    }

    func result() async -> Result {
        // The files' modes are findings of their own.
        let known = Set(settings.secretFiles.compactMap { FilePermissions.warning(about: $0.path) })
        // A service reads its secrets before it checks anything else.
        let services = installation.unreadable == nil ? installation.services.filter(isSetUp) : []
        var (lines, said): ([Line], [Line: [ServiceEntry]]) = ([], [:])
        var result = Result()
        let checked = services.filter { $0 != .fcmRelay || !isBeforeFirstStart }
        for service in services where !checked.contains(service) {
            result.findings.append(
                .ok(
                    .configuration,
                    "\(service.executable): can be checked after the first start, at which the emulator makes its key"))
        }
        let answers = await withTaskGroup(of: (ServiceEntry, [Line]).self) { group in
            for service in checked { group.addTask { (service, await self.lines(of: service)) } }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        for service in checked {
            for line in answers[service] ?? [] where !known.contains(line.text) {
                if said[line] == nil { lines.append(line) }
                said[line, default: []].append(service)
            }
        }
        result.problems = Set(lines.filter { $0.level == .failure }.map(\.text) + mistakes)
        // Services stop at a mistyped name, and do not look at the values.
        let others = mistakes.isEmpty ? [] : settings.problems(of: SettingDeclaration.all)
        let alone = (mistakes + others).filter { mistake in !lines.contains { $0.text == mistake } }
        result.problems.formUnion(others)
        let warnings = settings.warnings.filter { warning in
            !known.contains(warning) && !lines.contains { $0.text == warning }
        }
        result.findings += alone.map { .failure(.configuration, $0, advice(for: [], $0)) }
        result.findings += warnings.map { .warning(.configuration, $0, advice(for: [], $0)) }
        result.findings += lines.map { finding($0, of: said[$0] ?? []) }
        return result
    }

    /// One finding for all services that report the same line.
    private func finding(_ line: Line, of services: [ServiceEntry]) -> Finding {
        let text = services.map(\.executable).joined(separator: ", ") + ": " + line.text
        return switch line.level {
        case .ok: .ok(.configuration, text)
        case .warning: .warning(.configuration, text, advice(for: [], line.text))
        case .failure: .failure(.configuration, text, advice(for: services, line.text))
        }
    }

    /// Whether `msi up` has never run, and no setting names a key for the relay.
    private var isBeforeFirstStart: Bool {
        installation.layout == .build
            && !settings.secretFiles.contains { $0.setting == Setting.fcmServiceAccountFile.declaration }
    }

    /// The canary is set up by its topic. In a build it is started separately, with its own settings.
    private func isSetUp(_ service: ServiceEntry) -> Bool {
        guard service == .canary, environmentOfCanary == nil else { return true }
        do {
            let hasTopic = try settings.optional(.canaryTopic) != nil
            return try hasTopic && (installation.layout == .packages || settings.optional(.canaryToken) != nil)
        } catch {
            // The check says what is wrong with it.
            return true
        }
    }

    /// The environment of the canary that runs beside a build; `nil` if none does.
    private var environmentOfCanary: [String: String]? {
        installation.layout == .build ? processes.first { $0.service == .canary }?.startEnvironment : nil
    }

    private func environment(of service: ServiceEntry) -> [String: String] {
        (service == .canary ? environmentOfCanary : nil) ?? installation.environment
    }

    private func lines(of service: ServiceEntry) async -> [Line] {
        let name = service.executable
        do {
            let result = try await Subprocess.run(
                .path(FilePath(installation.path(of: service))), arguments: ["--check-config"],
                environment: .custom(
                    Dictionary(
                        uniqueKeysWithValues: environment(of: service).map { (Environment.Key(stringLiteral: $0), $1) })),
                output: .string(limit: Self.maxOutput), error: .combinedWithOutput)
            let isValid = result.terminationStatus.isSuccess
            let lines = result.standardOutput.split(separator: "\n").map { line in
                let text = line.hasPrefix("\(name): ") ? String(line.dropFirst(name.count + 2)) : String(line)
                // Omits the time and the service's name, which differ.
                if let record = LogRecord(line: text) { return Line(level: .warning, text: record.text) }
                if settings.warnings.contains(text) { return Line(level: .warning, text: text) }
                guard isValid else { return Line(level: .failure, text: text) }
                return Line(level: text == "the configuration is valid" ? .ok : .warning, text: text)
            }
            guard isValid || lines.contains(where: { $0.level == .failure }) else {
                return lines + [Line(level: .failure, text: "it \(result.terminationStatus.text)")]
            }
            return lines
        } catch {
            return [Line(level: .failure, text: "it cannot be run: \(error)")]
        }
    }

    private func advice(for services: [ServiceEntry], _ problem: String) -> String {
        if services == [.fcmRelay], installation.layout == .build,
            problem.hasPrefix("\(Setting.fcmServiceAccountFile.declaration.name) is required")
        {
            return "msi up gives the relay the emulator; for a real project, set it and start msi-fcm-relay by itself"
        }
        if problem.hasPrefix("it cannot be run") { return "install it again" }
        let place = installation.place(ofSettingIn: problem, configurationFile: settings.configurationFile)
        if problem.contains(" is not a setting") {
            return "remove it, or correct its name\(place.map { ", in \($0)" } ?? ""); msi settings lists all names"
        }
        switch installation.layout {
        case .packages:
            let restart = services.map { installation.units(of: $0) }.joined(separator: " ")
            return "correct it in \(place ?? "/etc/msi/msi.env, or the key in /etc/credstore")"
                + (restart.isEmpty ? "; then systemctl restart msi.target" : "; then systemctl restart \(restart)")
        case .build:
            return "correct it\(place.map { " in \($0)" } ?? ""); "
                + (services.count == 1
                    ? "\(services[0].executable) --help describes each setting" : "msi settings describes each")
        }
    }
}
