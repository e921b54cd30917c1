import FoundationEssentials
import Glibc
import ServiceKit
import Subprocess
import SystemPackage

/// What `--check-config` of each service says about its settings and the files that they name.
struct ConfigurationCheck: Sendable {
    let installation: Installation
    let settings: SettingValues

    private static let maxOutput = 1 << 18

    func findings() async -> [Finding] {
        // The files' modes are findings of their own.
        let known = Set(settings.secretFiles.compactMap { FilePermissions.warning(about: $0.path) })
        var findings = settings.warnings.filter { !known.contains($0) }.map { warning in
            Finding.warning(.configuration, warning, "remove it, or correct its name; msi settings lists all names")
        }
        // A service reads its secrets before it checks anything else.
        let services = installation.unreadable == nil ? installation.services.filter(isSetUp) : []
        for service in services {
            if service == .fcmRelay, isBeforeFirstStart {
                findings.append(
                    .ok(
                        .configuration,
                        "\(service.executable): can be checked after the first start, at which the emulator makes its key"))
                continue
            }
            findings += await check(service, ignoring: known.union(settings.warnings))
        }
        return findings
    }

    /// Whether `msi up` has never run, and the relay has no key of its own.
    private var isBeforeFirstStart: Bool {
        installation.layout == .build
            && !settings.secretFiles.contains { file in
                [Setting.fcmServiceAccountFile, .fcmServerKeyFile].contains { $0.declaration == file.setting }
            }
    }

    /// The canary is set up by its topic.
    private func isSetUp(_ service: ServiceEntry) -> Bool {
        guard service == .canary else { return true }
        do {
            return try settings.optional(.canaryTopic) != nil
        } catch {
            // The check says what is wrong with it.
            return true
        }
    }

    private func check(_ service: ServiceEntry, ignoring known: Set<String>) async -> [Finding] {
        let name = service.executable
        do {
            let result = try await Subprocess.run(
                .path(FilePath("\(installation.executables)/\(name)")), arguments: ["--check-config"],
                environment: .custom(
                    Dictionary(uniqueKeysWithValues: installation.environment.map { (Environment.Key(stringLiteral: $0), $1) })),
                output: .string(limit: Self.maxOutput), error: .combinedWithOutput)
            let lines = result.standardOutput.split(separator: "\n").map { line in
                line.hasPrefix("\(name): ") ? String(line.dropFirst(name.count + 2)) : String(line)
            }
            let problems = lines.filter { !known.contains($0) }
            if result.terminationStatus.isSuccess {
                return problems.map { line in
                    line == "the configuration is valid"
                        ? .ok(.configuration, "\(name): \(line)")
                        : .warning(.configuration, "\(name): \(line)", "correct the setting")
                }
            }
            return (problems.isEmpty ? ["it ended with \(result.terminationStatus)"] : problems).map {
                .failure(.configuration, "\(name): \($0)", advice(for: service, $0))
            }
        } catch {
            return [.failure(.configuration, "\(name) cannot be run: \(error)", "install it again")]
        }
    }

    private func advice(for service: ServiceEntry, _ problem: String) -> String {
        switch installation.layout {
        case .packages:
            "editor /etc/msi/msi.env, or the key in /etc/credstore; then systemctl restart \(installation.unit(of: service))"
        case .build:
            service == .fcmRelay && problem.hasPrefix("\(Setting.fcmServiceAccountFile.declaration.name) is required")
                ? "msi up gives the relay the emulator; for a real project, set it and start msi-fcm-relay by itself"
                : "correct it; \(service.executable) --help describes each setting"
        }
    }
}
