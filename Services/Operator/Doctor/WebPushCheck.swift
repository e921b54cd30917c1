import AsyncHTTPClient
import Base
import Bus
import Logging
import NIOCore
import NIOHTTP1
import NIOSSL
import Schemas
import ServiceKit

/// Whether messages can go to browsers by Web Push, and how each push service has answered last. Also whether there is a way to phones at
/// all, now that each of the two can be switched off.
struct WebPushCheck: Sendable {
    private let installation: Installation
    private let transports: Transports
    /// The `sub` of the hub's signatures; `nil` if Web Push is off.
    private let contact: String?
    private let settings: SettingValues
    /// The endpoints of the Web Push services that answer.
    private let services: [String]
    /// The processes that a signal has stopped.
    private let stopped: [RunningProcess]
    /// Whether to connect to the push services.
    private let connects: Bool

    private static let timeout = Duration.seconds(5)
    /// The maximum number of push services that are shown, those with most subscriptions first.
    private static let maxShown = 20

    /// The ways to phones.
    enum Transports: Hashable, Sendable {
        case both, fcm, webPush, neither
    }

    /// - Throws: ``ConfigurationError``.
    init(
        installation: Installation, settings: SettingValues, services: [String], stopped: [RunningProcess], connects: Bool
    ) throws {
        self.installation = installation
        self.settings = settings
        self.services = services
        self.stopped = stopped
        self.connects = connects
        contact = try settings.webPushContact
        let usesFCM = try settings.usesFCM
        transports =
            switch (usesFCM, contact != nil) {
            case (true, true): .both
            case (true, false): .fcm
            case (false, true): .webPush
            case (false, false): .neither
            }
    }

    func findings() async throws -> [Finding] {
        var findings = [Self.finding(about: transports)].compactMap(\.self)
        guard let contact else { return findings }
        findings.append(Self.finding(about: contact, isOfUp: installation.layout == .build))
        var counts: SubscriptionCounts?
        if let endpoint = services.first {
            let answer = try await ask(endpoint)
            findings += answer.findings
            counts = answer.counts
        } else if let process = stopped.first(where: { $0.service == .webpush }) {
            findings.append(process.stoppedFinding(.webPush))
        } else if installation.services.contains(.webpush) {
            findings.append(
                .warning(
                    .webPush, "no \(ServiceEntry.webpush.executable) answers, so its key and its push services are not checked",
                    installation.start(.webpush)))
        }
        if connects { findings += try await connections(to: counts?.hosts ?? []) }
        return findings
    }

    // MARK: The settings

    /// - Returns: `nil` if Web Push is on.
    static func finding(about transports: Transports) -> Finding? {
        let (contact, fcm) = (Setting.webPushContact.declaration.name, Setting.fcm.declaration.name)
        switch transports {
        // Nothing speaks of FCM where it is switched off.
        case .both, .webPush: return nil
        case .fcm:
            return .ok(.webPush, "Web Push is off: \(contact) switches it on, so that Alerts do not depend on FCM alone")
        case .neither:
            return .failure(
                .webPush, "FCM and Web Push are both switched off, so only apps that run get messages, when they ask the hub",
                "set \(contact), or \(fcm)=on")
        }
    }

    /// The setting's form is checked before. An address without a reader helps as little as none.
    ///
    /// - Parameter isOfUp: Whether `msi up` starts the services. It has an example for a contact, to try the hub out.
    static func finding(about contact: String, isOfUp: Bool) -> Finding {
        let domain = contact.split { ":/@?".contains($0) }.dropFirst(contact.hasPrefix("mailto:") ? 2 : 1).first ?? ""
        let host = domain.split(separator: ".").suffix(2).joined(separator: ".").lowercased()
        let isExample =
            ["example.org", "example.com", "example.net", "localhost"].contains(host)
            || ["test", "invalid", "localhost", "example"].contains { host.hasSuffix("." + $0) }
        let name = Setting.webPushContact.declaration.name
        guard isExample else { return .ok(.webPush, "push services can reach the operator at \(contact)") }
        guard !isOfUp else {
            return .ok(.webPush, "push services are told the contact \(contact), which is enough to try the hub out")
        }
        return .warning(
            .webPush, "\(name) is \(contact), which reaches nobody",
            "set it to an address that the operator reads, on each machine")
    }

    // MARK: The service

    private func ask(_ endpoint: String) async throws -> (findings: [Finding], counts: SubscriptionCounts?) {
        var logger = Logger(label: "msi")
        logger.logLevel = .critical
        let bus = try Bus(settings, logger: logger)
        var findings: [Finding] = []
        var counts: SubscriptionCounts?
        do {
            let client = try CommandClient(bus: bus, endpoints: [endpoint], logger: logger)
            findings.append(Self.finding(about: try await client.request(ReadWebPushKey(), timeout: Self.timeout)))
            let found = try await client.request(CountSubscriptions(), timeout: Self.timeout)
            findings += Self.findings(about: found, now: .now)
            counts = found
        } catch {
            let reason = (error as? CommandFailure)?.message ?? "\(error)"
            findings.append(
                .failure(
                    .webPush, "\(ServiceEntry.webpush.executable) at \(endpoint) cannot push: \(reason)",
                    "its log says more; a damaged key comes back from a backup (msi restore)"))
        }
        await bus.close()
        return (findings, counts)
    }

    static func finding(about key: ReadWebPushKey.Reply) -> Finding {
        // 65 bytes, the first of which is 4.
        key.key.wholeMatch(of: /B[A-Za-z0-9_-]{86}/) != nil
            ? .ok(.webPush, "the key that browsers subscribe with can be read")
            : .failure(
                .webPush, "the key that browsers subscribe with is none: \(key.key.prefix(100))",
                "restore webpush_key from a backup, or make a new key: msi webpush rotate")
    }

    /// One for all subscriptions, and one for each push service.
    static func findings(about counts: SubscriptionCounts, now: UnixMilliseconds) -> [Finding] {
        let number = counts.subscriptions
        let total =
            "\(counted(number, "browser")) \(number == 1 ? "has" : "have") subscribed, \(counts.proven) of them with a proof that "
            + "pushes reach them"
        let shown = counts.hosts.prefix(maxShown).map { finding(about: $0, now: now) }
        let rest = counts.hosts.count - shown.count
        var findings = [Finding.ok(.webPush, total)]
        findings += shown
        if rest > 0 { findings.append(.ok(.webPush, "and \(counted(rest, "more push service")): msi webpush lists all")) }
        return findings
    }

    private static func finding(about service: PushServiceState, now: UnixMilliseconds) -> Finding {
        let answer = service.lastAnswer.map { answer in
            "the last answer, of \((now - answer.at).rounded) ago, " + (answer.error.map { "is \($0)" } ?? "has accepted a push")
        }
        let found =
            "\(service.host), \(counted(service.subscriptions, "subscription")): "
            + [service.stopped.map { "nothing is sent to it: \($0)" }, answer ?? "nothing is known about it since the start"]
            .compactMap(\.self).joined(separator: "; ")
        // It is about the service: what a push service says about one subscription is not its last answer.
        let error = service.lastAnswer?.error
        let isRefused = ["HTTP_400", "HTTP_401", "HTTP_403"].contains { error?.hasPrefix($0) ?? false }
        let correction =
            "correct what it names: \(Setting.webPushContact.declaration.name), the clock of this machine, or the key (OPERATING.md, Web "
            + "Push)"
        if isRefused {
            // Until the service stops the pushes, it may be about one subscription.
            return service.stopped == nil
                ? .warning(.webPush, found, "if it stays, \(correction)") : .failure(.webPush, found, correction)
        }
        // One that asks for a slower pace works.
        let isFailing = error.map { !$0.hasPrefix("HTTP_429") } ?? false
        guard service.stopped != nil || isFailing else { return .ok(.webPush, found) }
        return .warning(
            .webPush, found,
            "pushes wait, and go out when it takes them again; does this machine reach it? msi doctor --push-services tries")
    }

    // MARK: The push services

    /// A host of each known push service. Of those with many hosts it is one that browsers use.
    private static let known = [
        "fcm.googleapis.com", "updates.push.services.mozilla.com", "web.push.apple.com", "wns2-by3p.notify.windows.com",
    ]

    /// The addresses to connect to: the known push services, those of the settings, and those that have subscriptions.
    ///
    /// - Parameter named: The operator's, as the setting has them. A domain stands for many hosts, of which none is known.
    static func addresses(named: [String], used: [String]) -> [String] {
        let all = (known + used + named.filter { !$0.hasPrefix(".") }).map { $0.contains("://") ? $0 : "https://\($0)" }
        var (found, hosts): ([String], Set<String>) = ([], [])
        // The origin of an operator's host says whether it has TLS, so it comes first.
        for address in all.reversed() where !address.isEmpty {
            let host = address.split(separator: "/").last.map(String.init) ?? address
            if hosts.insert(host).inserted { found.append(address) }
        }
        return found.reversed()
    }

    private func connections(to used: [PushServiceState]) async throws -> [Finding] {
        let addresses = Self.addresses(
            named: try settings.optional(.webPushHosts) ?? [], used: used.prefix(Self.maxShown).map(\.host))
        let certificates = try settings.optional(.webPushCAFile)
        return await withTaskGroup(of: (Int, Finding).self) { group in
            for (index, address) in addresses.enumerated() {
                group.addTask { (index, await Self.connection(to: address, trusting: certificates)) }
            }
            let found = await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            return addresses.indices.compactMap { found[$0] }
        }
    }

    /// Any answer shows that the name has an address, that the port is open, and that the certificate is trusted.
    private static func connection(to address: String, trusting certificates: String?) async -> Finding {
        var request = HTTPClientRequest(url: address + "/")
        request.method = .HEAD
        do {
            let configuration = configuration(trusting: certificates)
            let status = try await HTTPClient.withHTTPClient(
                eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration
            ) { [request] in
                try await $0.execute(request, timeout: .seconds(10)).status.code
            }
            return .ok(.webPush, "\(address) can be reached (it answers \(status))")
        } catch {
            return .warning(
                .webPush, "\(address) cannot be reached from here: \(error)",
                "let connections to its port out, for the machine of \(ServiceEntry.webpush.executable); "
                    + "\(Setting.webPushCAFile.declaration.name) names other certificates to trust")
        }
    }

    private static func configuration(trusting certificates: String?) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        if let certificates {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .file(certificates)
            configuration.tlsConfiguration = tls
        }
        configuration.httpVersion = .http1Only
        configuration.timeout.connect = .seconds(5)
        configuration.connectionPool.retryConnectionEstablishment = false
        return configuration
    }
}
