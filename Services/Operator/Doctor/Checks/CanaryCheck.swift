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
    /// What has come of the request to this machine's gateway; `nil` if it was not made.
    let gateway: GatewayCheck.Answer?

    /// - Throws: ``ConfigurationError``.
    func findings() async throws -> [Finding] {
        let process = processes.first { $0.service == .canary }
        if let process, process.isStopped { return [process.stoppedFinding(.canary)] }
        // A canary that was started by hand has settings of its own.
        let own = await process?.settings() ?? settings
        // While nothing runs, the check of the sockets says what to do.
        guard let topic = try own.optional(.canaryTopic), process != nil || isAnythingRunning else { return [] }
        var findings = await other(topic)
        if process == nil { findings.append(await withoutProcess()) }
        if let process, let changed = changedToken(own, since: process.started) {
            findings.append(changed)
            return findings
        }
        guard let token = try own.optional(.canaryToken), isGatewayWell(own) else { return findings }
        let canary = CanaryProbe(
            topic: topic, interval: try own.value(.canaryInterval), account: try settings.value(.canaryAccount),
            token: Secret(token), gateway: try Self.gateway(own), isRunning: process != nil, started: process?.started)
        return findings + (await canary.findings())
    }

    /// The canary reads its token at its start. With another one in the file it is not known which one it has.
    private func changedToken(_ own: SettingValues, since started: UnixMilliseconds?) -> Finding? {
        let file = own.secretFiles.first { $0.setting.name == Setting.canaryToken.declaration.file?.name }
        guard let file, let started, let changed = FileTime.lastChange(of: file.path), changed > started else { return nil }
        return .warning(
            .canary, "\(file.path) has changed since msi-canary was started, which works with the token that it had then",
            "restart msi-canary")
    }

    /// Otherwise the check of the gateway says why nothing can be asked.
    private func isGatewayWell(_ own: SettingValues) -> Bool {
        guard Self.usesGateway(of: settings, own) else { return true }
        if case .status = gateway { return true }
        return false
    }

    /// As the canary finds its gateway.
    private static func gateway(_ settings: SettingValues) throws -> (url: String, source: String) {
        if let url = try settings.optional(.gatewayURL) { return (url, Setting.gatewayURL.declaration.name) }
        return (try ownGateway(settings), Setting<Int>.gatewayPort.declaration.name)
    }

    private static func ownGateway(_ settings: SettingValues) throws -> String {
        "http://127.0.0.1:\(try settings.value(.gatewayPort))"
    }

    /// Whether a canary uses the gateway that this command asks, or that of this machine.
    ///
    /// - Parameter own: The canary's settings.
    static func usesGateway(of settings: SettingValues, _ own: SettingValues) -> Bool {
        func loopback(_ url: String) -> String {
            for name in ["://localhost", "://[::1]"] {
                if let range = url.firstRange(of: name) {
                    return url[..<range.lowerBound] + "://127.0.0.1" + url[range.upperBound...]
                }
            }
            return url
        }
        guard let used = try? gateway(own).url else { return false }
        let known = [try? ownGateway(settings), try? gateway(settings).url].compactMap(\.self)
        return known.map(loopback).contains(loopback(used))
    }

    /// What can be said without a process that this user sees.
    private func withoutProcess() async -> Finding {
        let (topic, name) = (Setting.canaryTopic.declaration.name, ServiceEntry.canary.executable)
        let missing = "\(topic) is set, and \(name) does not run on this machine, so silence is not noticed"
        let elsewhere = ". If it runs on another machine, msi doctor there checks it"
        switch installation.layout {
        case .packages:
            guard installation.services.contains(.canary) else {
                return .ok(
                    .canary,
                    "\(topic) is set, and \(name) is not installed on this machine; msi status says whether its messages arrive")
            }
            if let ended = await EndedService.look(.canary, of: installation, settings, supervisor: nil) {
                return .failure(.canary, "\(name) \(ended.found)", ended.advice)
            }
            if await UnitState.isActive(name) { return .ok(.canary, "\(name) runs; msi status says whether its messages arrive") }
            return .warning(.canary, missing, "systemctl enable --now \(name)" + elsewhere)
        case .build:
            // The services run, and this user sees none of them.
            guard !processes.isEmpty else {
                return .ok(
                    .canary, "whether \(name) runs cannot be seen by this user; msi status says whether its messages arrive")
            }
            return .warning(.canary, missing, "start it: \(CanaryProbe.setUp)" + elsewhere)
        }
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
