import Schemas
import ServiceKit
import Base

/// Whether the canary can send and is running, and whether its messages arrive. Without a topic in the settings there is no canary.
struct CanaryCheck: Sendable {
    let installation: Installation
    /// The settings of this command, or those of the systemd units if the packages are installed.
    let settings: SettingValues
    let processes: [RunningProcess]
    /// Whether a service answers on the bus.
    let isAnythingRunning: Bool
    /// The outcome of the request to this machine's gateway; `nil` if it was not made.
    let gateway: GatewayCheck.Answer?

    /// - Throws: ``ConfigurationError``.
    func findings() async throws -> [Finding] {
        let process = processes.first { $0.service == .canary }
        if let process, process.isStopped { return [process.stoppedFinding(.canary)] }
        // A canary that was started by hand has its own settings.
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
            token: Secret(token), gateway: try Self.gateway(own), isRunning: process != nil, started: process?.started,
            usesWebPush: try settings.webPushContact != nil)
        return findings + (await canary.findings())
    }

    /// The canary reads its token at its start. If the file has changed since, its token is unknown.
    private func changedToken(_ own: SettingValues, since started: UnixMilliseconds?) -> Finding? {
        let file = own.secretFiles.first { $0.setting.name == Setting.canaryToken.declaration.file?.name }
        guard let file, let started, let changed = FileTime.lastChange(of: file.path), changed > started else { return nil }
        return .warning(
            .canary, "\(file.path) has changed since msi-canary was started, which works with the token that it had then",
            "restart msi-canary")
    }

    /// Without an answer, the check of the gateway says why.
    private func isGatewayWell(_ own: SettingValues) -> Bool {
        guard Self.usesGateway(of: settings, own) else { return true }
        if case .status = gateway { return true }
        return false
    }

    /// The gateway's address, found as the canary finds it.
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
            // The services run, and this user cannot see them.
            guard !processes.isEmpty else {
                return .ok(
                    .canary, "whether \(name) runs cannot be seen by this user; msi status says whether its messages arrive")
            }
            return .warning(.canary, missing, "start it: \(CanaryProbe.setUp)" + elsewhere)
        }
    }

    /// The message log treats the messages of the topic in its settings as those of the canary.
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

/// The canary's token and its messages, as the gateway knows them. It is asked with the canary's own token.
struct CanaryProbe: Sendable {
    let topic: TopicKey
    let interval: Seconds
    /// The canary's account: the message log treats this account's messages to the topic as the canary's.
    let account: String
    let token: Secret
    let gateway: (url: String, source: String)
    let isRunning: Bool
    /// When its process was started; `nil` if that is not known.
    let started: UnixMilliseconds?
    let usesWebPush: Bool

    static let setUp = "Services/Canary/README.md, \"Set it up\""
    private static let timeout = Duration.seconds(5)
    private static let silence = "MSICanarySilent in deploy/monitoring/README.md"
    private static let pushSilence = "MSICanaryPushSilent in deploy/monitoring/README.md"

    /// `GET /session`.
    private struct Session: Decodable {
        let account: String
        let rights: [String]
        /// The topics that the token may send to; `nil` for all.
        let topics: [TopicKey]?
    }

    private struct Page: Decodable {
        let messages: [Message]
    }

    func findings() async -> [Finding] {
        var findings: [Finding] = []
        do {
            try await GatewayClient.with(
                gateway.url, from: gateway.source, token: token, orElse: "the canary has no token", report: { _ in }
            ) { findings = try await self.findings(by: $0) }
        } catch {
            findings = [
                .warning(.canary, "not checked: \(error)", "see the findings about the gateway, and run msi doctor again")
            ]
        }
        return findings
    }

    private func findings(by client: GatewayClient) async throws -> [Finding] {
        let session: Session
        do {
            session = try await client.getOnce("/session", within: Self.timeout)
        } catch let failure as GatewayFailure where failure.kind == .notAllowed {
            return [
                .failure(
                    .canary, "the gateway refuses the canary's token: \(failure)",
                    "make a new token for the account \(account), put it in the place of the old one, and restart msi-canary: \(Self.setUp)"
                )
            ]
        }
        var findings = problems(of: session)
        // Without this right, its topics say nothing.
        if session.rights.contains("send") {
            findings += try await problems(of: session.topics, client, account: session.account)
        }
        // A canary that cannot send or report is silent for a known reason.
        guard findings.allSatisfy({ $0.level != .failure }), session.rights.contains("read"), isRunning else { return findings }
        let page: Page = try await client.getOnce("/message?limit=10&subject=\(topic.subject)", within: Self.timeout)
        let state = CanaryMessages(page.messages.filter { $0.sender == account })
        return findings + [arrival(state, now: .now), pushes(state, now: .now)].compactMap(\.self)
    }

    private func problems(of session: Session) -> [Finding] {
        var findings: [Finding] = []
        let missing = ["send", "read"].filter { !session.rights.contains($0) }
        if !missing.isEmpty {
            findings.append(
                .failure(
                    .canary, "the canary's token has no right \(missing.joined(separator: " and no right "))",
                    "make a token with the rights read and send: \(Self.setUp)"))
        }
        if session.account != account {
            findings.append(
                .warning(
                    .canary,
                    "the canary's token is of the account \(session.account), and \(Setting.canaryAccount.declaration.name) is \(account): "
                        + "its messages are kept and audited like others",
                    "make the token for \(account), or change the setting, and restart the message log"))
        }
        return findings
    }

    /// - Parameter topics: The topics that the token may send to; `nil` for all.
    private func problems(of topics: [TopicKey]?, _ client: GatewayClient, account: String) async throws -> [Finding] {
        if topics?.contains(topic) == true { return [] }
        let channels: [Channel] = try await client.getOnce("/channel", within: Self.timeout)
        guard channels.contains(where: { $0.areas.contains { $0.subjects.contains { $0.topicKey == topic } } }) else {
            return [
                .failure(
                    .canary, "there is no subject \(topic), to which the canary sends",
                    "import it, and set \(Setting.canaryTopic.declaration.name) to its topic key: \(Self.setUp)")
            ]
        }
        guard topics != nil else { return [] }
        return [
            .failure(
                .canary, "the canary's token may not send to \(topic)",
                "make a token whose scope has this topic key, and let the access list of its channel name \(account): \(Self.setUp)"
            )
        ]
    }

    // MARK: Whether its messages arrive

    /// After as many intervals the canary gives a message up, and the alerts MSICanarySilent and MSICanaryPushSilent fire.
    private var patience: Milliseconds { .seconds(interval.rawValue * 5) }

    /// The finding about the arrival of the canary's messages.
    ///
    /// - Parameter state: The state of its messages in the archive; `nil` if there are none.
    func arrival(_ state: CanaryMessages?, now: UnixMilliseconds) -> Finding {
        func isRecent(_ time: UnixMilliseconds?) -> Bool { time.map { now - $0 <= patience } ?? false }
        func age(_ time: UnixMilliseconds) -> String { "\(max(0, (now - time).rawValue) / 1_000) s" }
        if let received = state?.lastReceived, isRecent(received) {
            return .ok(.canary, "the canary's phone has reported the message of \(age(received)) ago")
        }
        if let started, isRecent(started) {
            return .ok(.canary, "msi-canary was started \(age(started)) ago, and no phone has reported a message since")
        }
        guard let state, isRecent(state.posted) else {
            return .failure(
                .canary, "msi-canary runs, and has sent nothing for more than \(patience.rawValue / 1_000) s",
                "its log says why; \(Self.silence)")
        }
        let reported =
            state.lastReceived.map { "nothing since the message of \(age($0)) ago" }
            ?? "none of the last \(state.recent) messages"
        return .failure(
            .canary,
            "the canary's phone has reported \(reported); the last one, of \(age(state.posted)) ago, is \(state.state.rawValue)",
            "is its phone on, in the network and subscribed? \(Self.silence); msi trace \(state.key) shows the message's life")
    }

    /// The finding about the canary's own Web Push subscription, by what its last message says.
    ///
    /// - Returns: `nil` if there is no message, or neither a subscription nor Web Push.
    func pushes(_ state: CanaryMessages?, now: UnixMilliseconds) -> Finding? {
        guard let state else { return nil }
        if let time = state.pushAfter { return .ok(.canary, "the canary's last push arrived after \(time) ms") }
        guard let problem = state.pushProblem else {
            let name = Setting<Int>.canaryPushPort.declaration.name
            return usesWebPush ? .ok(.canary, "the canary measures no pushes: \(name) gives it a Web Push subscription") : nil
        }
        if let started, now - started <= patience {
            return .ok(
                .canary, "msi-canary was started \((now - started).rounded) ago, and no push has arrived since: \(problem)")
        }
        return .failure(
            .canary, "no push arrives at the canary: \(problem)",
            "\(Self.pushSilence); msi trace \(state.key) shows the last message's life")
    }
}
