import FoundationEssentials
import ServiceKit

/// The checks of `msi doctor`, one after the other. None changes anything.
struct Checkup: Sendable {
    private let installation: Installation

    init(of installation: Installation) {
        self.installation = installation
    }

    /// The findings, as they are made.
    var findings: AsyncStream<Finding> {
        AsyncStream { stream in
            let work = Task {
                await run { stream.yield($0) }
                stream.finish()
            }
            stream.onTermination = { _ in work.cancel() }
        }
    }

    private func run(_ report: @Sendable (Finding) -> Void) async {
        if installation.layout == .packages, let what = installation.unreadable {
            report(
                .warning(
                    .installation, "\(what) cannot be read by this user, so what the services read from there is not checked",
                    "sudo msi doctor"))
        }
        MachineCheck.findings.forEach(report)
        var mistakes: [String] = []
        let settings = await SettingValues(environment: installation.environment, mistakes: &mistakes)
        // Under another user's configuration the rest would be about nothing.
        if installation.layout == .packages, installation.environment[SettingDeclaration.configFile.name] == nil {
            for mistake in mistakes { report(.failure(.configuration, mistake, "correct it")) }
            return
        }
        // With a mistake in a setting it is as if there were no emulator; the check of the configuration names the mistake.
        let installation = (try? installation.withEmulator(settings)) ?? installation
        var known: [String] = []
        let values = await SettingValues(environment: installation.environment, mistakes: &known)
        await check(installation, values, mistakes, report)
    }

    private func check(
        _ installation: Installation, _ settings: SettingValues, _ mistakes: [String], _ report: @Sendable (Finding) -> Void
    ) async {
        func all(_ findings: [Finding]) { findings.forEach(report) }
        let configuration = await ConfigurationCheck(installation: installation, settings: settings, mistakes: mistakes).result()
        all(configuration.findings)

        /// A check that needs a setting with a mistake is left out, and the others go on.
        func attempt(_ check: Finding.Check, _ findings: () async throws -> [Finding]) async {
            do {
                all(try await findings())
            } catch {
                let reason = "\(error)"
                let isKnown = configuration.problems.contains(reason)
                report(
                    .warning(
                        check, "not checked: \(isKnown ? "it needs a setting that has a mistake, see above" : reason)",
                        "correct the setting, and run msi doctor again"))
            }
        }

        await attempt(.files) { try FileCheck(installation: installation, settings: settings).findings }
        await attempt(.disk) { try DiskCheck(settings: settings).findings }
        await attempt(.certificate) { try CertificateCheck(settings: settings).findings(at: Date()) }
        await attempt(.database) { try await DatabaseCheck(settings: settings).findings() }
        let processes = await RunningProcess.all(of: installation, settings)
        await attempt(.processes) {
            try ProcessCheck(installation: installation, settings: settings, processes: processes).findings
        }
        all(await SettingsInEffectCheck(installation: installation, settings: settings, processes: processes).findings())
        await attempt(.metrics) {
            try await MetricsCheck(processes: processes, installation: installation, settings: settings).findings()
        }
        var bus = BusCheck.Result()
        await attempt(.sockets) {
            bus = try await BusCheck(installation: installation, settings: settings, processes: processes).result()
            return bus.findings
        }
        // What depends on a stopped process has no cause of its own.
        let stopped = processes.filter(\.isStopped)
        let isAnythingRunning = bus.isAnythingRunning
        await attempt(.gateway) {
            try await GatewayCheck(
                installation: installation, settings: settings, isAnythingRunning: isAnythingRunning, stopped: stopped
            )
            .findings()
        }
        all(VersionCheck(versions: bus.versions, installation: installation).findings)
        let relays = bus.relays
        await attempt(.fcm) {
            try await FCMCheck(installation: installation, settings: settings, relays: relays, stopped: stopped).findings()
        }
    }
}
