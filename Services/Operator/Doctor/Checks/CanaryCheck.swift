import Schemas
import ServiceKit
import Time

/// Whether the canary can send and is running, and whether its messages arrive. Without a topic in the settings there is no canary.
struct CanaryCheck: Sendable {
    let installation: Installation
    /// Those of this command, or of the units.
    let settings: SettingValues
    let processes: [RunningProcess]
    /// Whether a service answers on the bus.
    let isAnythingRunning: Bool

    /// - Throws: ``ConfigurationError``.
    func findings() async throws -> [Finding] {
        let process = processes.first { $0.service == .canary }
        if let process, process.isStopped { return [process.stoppedFinding(.canary)] }
        // A canary that was started by hand has settings of its own.
        let own = await process?.settings() ?? settings
        guard let topic = try own.optional(.canaryTopic) else { return [] }
        var findings = await other(topic)
        if process == nil { findings.append(await notRunning()) }
        guard let token = try own.optional(.canaryToken) else {
            // With the packages the check of the configuration says it.
            return findings
        }
        // While nothing runs, the check of the sockets says what to do.
        guard isAnythingRunning else { return findings }
        let canary = CanaryProbe(
            topic: topic, interval: try own.value(.canaryInterval), account: try settings.value(.canaryAccount),
            token: Secret(token), gateway: try Self.gateway(own), isRunning: process != nil, started: process?.started)
        return findings + (await canary.findings())
    }

    /// As the canary finds its gateway.
    static func gateway(_ settings: SettingValues) throws -> (url: String, source: String) {
        if let url = try settings.optional(.gatewayURL) { return (url, Setting.gatewayURL.declaration.name) }
        return ("http://127.0.0.1:\(try settings.value(.gatewayPort))", Setting<Int>.gatewayPort.declaration.name)
    }

    private func notRunning() async -> Finding {
        // In a build it has no manager.
        if let ended = await EndedService.look(.canary, of: installation, settings, supervisor: nil) {
            return .failure(.canary, "\(ServiceEntry.canary.executable) \(ended.found)", ended.advice)
        }
        let start =
            switch installation.layout {
            case .packages:
                installation.services.contains(.canary)
                    ? "systemctl enable --now msi-canary" : "apt install msi-canary; then systemctl enable --now msi-canary"
            case .build: "start it: \(CanaryProbe.setUp)"
            }
        return .warning(
            .canary,
            "\(Setting.canaryTopic.declaration.name) is set, and \(ServiceEntry.canary.executable) does not run on this machine, so silence "
                + "is not noticed", start + ". If it runs on another machine, msi doctor there checks it")
    }

    /// The message log treats the messages of its own topic as those of the canary.
    ///
    /// - Parameter topic: The canary's.
    private func other(_ topic: TopicKey) async -> [Finding] {
        var findings: [Finding] = []
        for process in processes where process.service == .messageLog {
            let used = try? await process.settings().optional(.canaryTopic)
            guard used != topic else { continue }
            let name = Setting.canaryTopic.declaration.name
            findings.append(
                .warning(
                    .canary,
                    "\(process.unit ?? process.service.executable) has \(used.map { "\(name)=\($0)" } ?? "no \(name)"), and the canary sends to "
                        + "\(topic): its messages are kept and audited like others",
                    "give both the same \(name), and restart \(process.unit ?? process.service.executable)"))
        }
        return findings
    }
}
