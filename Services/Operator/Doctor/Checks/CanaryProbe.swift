import Schemas
import ServiceKit
import Time

/// The canary's token and its messages, as the gateway knows them. It is asked with the canary's own token.
struct CanaryProbe: Sendable {
    let topic: TopicKey
    let interval: Seconds
    /// The account whose messages to the topic the message log takes for the canary's.
    let account: String
    let token: Secret
    let gateway: (url: String, source: String)
    let isRunning: Bool
    /// When its process was started; `nil` if that is not known.
    let started: UnixMilliseconds?

    static let setUp = "Services/Canary/README.md, \"Set it up\""
    private static let timeout = Duration.seconds(5)
    private static let silence = "MSICanarySilent in deploy/monitoring/README.md"

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
        // Without the right it may send to no topic.
        if session.rights.contains("send") {
            findings += try await problems(of: session.topics, client, account: session.account)
        }
        // Otherwise it is silent for that reason.
        guard findings.allSatisfy({ $0.level != .failure }), session.rights.contains("read"), isRunning else { return findings }
        let page: Page = try await client.getOnce("/message?limit=10&subject=\(topic.subject)", within: Self.timeout)
        return findings + [arrival(CanaryMessages(page.messages.filter { $0.sender == account }), now: .now)]
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

    /// - Parameter topics: Those that the token may send to; `nil` for all.
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

    /// - Parameter state: What the archive says about its messages; `nil` if there are none.
    func arrival(_ state: CanaryMessages?, now: UnixMilliseconds) -> Finding {
        // After as many intervals the canary gives a message up, and the alert MSICanarySilent fires.
        let patience = Milliseconds.seconds(interval.rawValue * 5)
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
}
