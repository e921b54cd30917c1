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
        func all(_ findings: [Finding]) { findings.forEach(report) }
        if installation.layout == .packages, let what = installation.unreadable {
            report(
                .warning(
                    .installation, "\(what) cannot be read by this user, so what the services read from there is not checked",
                    "sudo msi doctor"))
        }
        all(MachineCheck.findings)
        do {
            let settings = try await values(of: installation.environment)
            let installation = try installation.withEmulator(settings)
            // Under another user's configuration the rest would be about nothing.
            if installation.layout == .packages, installation.environment[SettingDeclaration.configFile.name] == nil { return }
            try await check(installation, try await values(of: installation.environment), report)
        } catch {
            report(.failure(.configuration, "\(error)", "correct the setting; msi settings describes each"))
        }
    }

    private func check(
        _ installation: Installation, _ settings: SettingValues, _ report: @Sendable (Finding) -> Void
    ) async throws {
        func all(_ findings: [Finding]) { findings.forEach(report) }
        all(await ConfigurationCheck(installation: installation, settings: settings).findings())
        all(try FileCheck(installation: installation, settings: settings).findings)
        all(try DiskCheck(settings: settings).findings)
        all(try CertificateCheck(settings: settings).findings(at: Date()))
        all(try await DatabaseCheck(settings: settings).findings())
        let processes = RunningProcess.all(of: installation)
        all(try ProcessCheck(installation: installation, settings: settings, processes: processes).findings)
        all(try await MetricsCheck(processes: processes, installation: installation, settings: settings).findings())
        let bus = try await BusCheck(installation: installation, settings: settings).run(report)
        all(
            try await GatewayCheck(installation: installation, settings: settings, isAnythingRunning: bus.isAnythingRunning)
                .findings())
        all(VersionCheck(versions: bus.versions, installation: installation).findings)
        all(try await FCMCheck(installation: installation, settings: settings, relays: bus.relays).findings())
    }

    private func values(of environment: [String: String]) async throws -> SettingValues {
        try await SettingValues(arguments: [], environment: environment, accepted: [])
    }
}
