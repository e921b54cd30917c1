import FoundationEssentials
import ServiceKit

/// The checks of `msi doctor`. None changes anything.
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
        let processes = await RunningProcess.all(of: installation, settings)
        let supervisor = RunningSupervisor.find(installation, settings)
        if supervisor == nil, processes.isEmpty, let other = await RunningSupervisor.elsewhere(installation, settings) {
            report(other)
        }
        // What waits for an answer is begun at once; the report keeps its order.
        async let configuration = ConfigurationCheck(
            installation: installation, settings: settings, mistakes: mistakes, processes: processes
        ).result()
        async let database = outcome { try await DatabaseCheck(settings: settings).findings() }
        async let metrics = outcome {
            try await MetricsCheck(processes: processes, installation: installation, settings: settings).findings()
        }
        let gatewayCheck = GatewayCheck(
            installation: installation, settings: settings, processes: processes, supervisor: supervisor)
        async let gateway = outcome { try await gatewayCheck.answer() }
        async let bus = outcome {
            try await BusCheck(installation: installation, settings: settings, processes: processes, supervisor: supervisor)
                .result()
        }
        async let openID = outcome { try await OpenIDCheck(settings: settings).findings() }
        async let inEffect = SettingsInEffectCheck(installation: installation, settings: settings, processes: processes)
            .findings()

        func all(_ findings: [Finding]) { findings.forEach(report) }
        let known = await configuration
        all(known.findings)

        /// A check that needs a setting with a mistake is left out, and the others go on.
        func show(_ check: Finding.Check, _ outcome: Result<[Finding], any Error>) {
            switch outcome {
            case .success(let findings): all(findings)
            case .failure(let error):
                let reason = "\(error)"
                report(
                    .warning(
                        check,
                        "not checked: \(known.problems.contains(reason) ? "it needs a setting that has a mistake, see above" : reason)",
                        "correct the setting, and run msi doctor again"))
            }
        }

        show(.files, Result { try FileCheck(installation: installation, settings: settings).findings })
        show(.disk, Result { try DiskCheck(settings: settings).findings })
        show(.certificate, Result { try CertificateCheck(settings: settings).findings(at: Date()) })
        show(.database, await database)
        show(
            .processes,
            Result {
                try ProcessCheck(
                    installation: installation, settings: settings, processes: processes, supervisor: supervisor
                ).findings
            })
        all(await inEffect)
        show(.metrics, await metrics)
        let sockets = await bus
        show(.sockets, sockets.map(\.findings))
        let answers = (try? sockets.get()) ?? BusCheck.Result()
        async let fcm = outcome {
            try await FCMCheck(
                installation: installation, settings: settings, relays: answers.relays, stopped: processes.filter(\.isStopped),
                supervisor: supervisor
            ).findings()
        }
        let answer = await gateway
        async let canary = outcome {
            try await CanaryCheck(
                installation: installation, settings: settings, processes: processes,
                isAnythingRunning: answers.isAnythingRunning, gateway: try? answer.get()
            ).findings()
        }
        show(.gateway, answer.map { gatewayCheck.findings(of: $0, isAnythingRunning: answers.isAnythingRunning) })
        all(VersionCheck(versions: answers.versions, installation: installation).findings)
        show(.fcm, await fcm)
        show(.signIn, await openID)
        show(.canary, await canary)
    }

    private func outcome<Value: Sendable>(_ body: () async throws -> Value) async -> Result<Value, any Error> {
        do {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }
}
