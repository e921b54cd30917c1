import Bus
import Base
import Logging
import Schemas
import ServiceKit
import Store
import WebPushKeys
import WebPushStore

/// The parts that the command handlers share.
struct WebPush: Sendable {
    let subscriptions: Subscriptions
    let keys: VAPIDKeys
    let hosts: PushHosts
    let fanOut: FanOut
    let ended: EndedSubscriptions
    /// What sends pushes; `nil` while the operator has named no contact.
    let pushing: Pushing?

    struct Pushing: Sendable {
        let blocks: BlockRelay
        let firstPushes: FirstPushes
        /// The states of the push services.
        let services: @Sendable () -> [PushServiceStatus]
    }

    /// How long a subscription waits at most for the answer to its first push.
    private static let firstPushTimeout = Duration.seconds(4)

    /// - Throws: ``CommandFailure`` while the operator has named no contact.
    func requirePushing() throws(CommandFailure) -> Pushing {
        guard let pushing else { throw CommandFailure(.unavailable, Self.withoutContact) }
        return pushing
    }

    fileprivate static let withoutContact = "Web Push is off: MSI_WEBPUSH_CONTACT names no contact, which push services require"

    func add(_ command: AddSubscription, _ context: CommandContext) async throws -> AddSubscription.Reply {
        let pushing = try requirePushing()
        let endpoint = try PushEndpoint(command.endpoint.text, allowed: hosts)
        _ = try BrowserKeys(p256dh: command.p256dh, auth: command.auth)
        if let problem = command.app.flatMap(AppURL.problem) { throw SchemaViolation(field: "app", problem: problem) }
        if let language = command.language, LanguageTag(language) == nil {
            throw SchemaViolation(field: "language", problem: "expected a language tag such as en or ar")
        }
        let added = try await subscriptions.add(command, at: endpoint, key: keys.current().id, address: context.address)
        let now = UnixMilliseconds.now
        let rest = context.deadline.map { Duration(max($0, now) - now) - .seconds(1) } ?? Self.firstPushTimeout
        try await pushing.firstPushes.send(to: added, by: .now + min(max(rest, .zero), Self.firstPushTimeout))
        return AddSubscription.Reply(id: added.document.id, secret: added.secret)
    }

    var counts: SubscriptionCounts {
        let count = subscriptions.tally.count
        let services = pushing?.services() ?? []
        let states = Dictionary(services.map { (PushEndpoint.host(of: $0.origin), $0) }) { $1 }
        let hosts = Set(count.hosts.keys).union(states.keys).map { host in
            PushServiceState(
                host: host, subscriptions: count.hosts[host] ?? 0, waiting: states[host]?.waiting ?? 0,
                stopped: states[host]?.stopped,
                lastAnswer: states[host]?.lastAnswer)
        }
        return SubscriptionCounts(
            subscriptions: count.subscriptions, proven: count.proven,
            hosts: hosts.sorted { ($1.subscriptions, $0.host) < ($0.subscriptions, $1.host) })
    }

    /// The states of what the service depends on.
    var health: [String: PartHealth] {
        guard let pushing else { return ["contact": PartHealth(.unavailable, Self.withoutContact)] }
        var parts = fanOut.health
        let refusing = pushing.services().first { $0.isRefusing }
        parts["push_services"] =
            refusing.map { service in
                let host = PushEndpoint.host(of: service.origin)
                return PartHealth(.unavailable, "\(host) refuses the hub's pushes: \(service.stopped ?? "its answers say why")")
            } ?? .ok
        return parts
    }
}

extension CommandRouter {
    /// The commands of the Web Push service.
    static func webPush(_ service: WebPush) -> CommandRouter {
        var router = CommandRouter(stores: [service.subscriptions.store], parts: { service.health })
        router.on(FanOutMessage.self) { command, _ in
            _ = try service.requirePushing()
            return try await service.fanOut.fanOut(command)
        }
        router.on(RelayPush.self) { try await service.requirePushing().blocks.relay($0, $1) }
        // Nothing waits here that could be withdrawn: each command has a deadline of seconds.
        router.on(WithdrawSends.self) { _, _ in WithdrawSends.Reply(withdrawn: 0) }
        router.on(ReadWebPushKey.self) { _, _ in
            _ = try service.requirePushing()
            return ReadWebPushKey.Reply(key: try await service.keys.current().publicKey)
        }
        router.on(RotateWebPushKey.self) { command, context in
            let key = try await service.keys.rotate(forgetting: command.forget ?? false)
            context.logger.notice(
                "a new key for browsers", metadata: ["key": "\(key.id)", "earlier": command.forget == true ? "removed" : "kept"])
            return ReadWebPushKey.Reply(key: key.publicKey)
        }
        router.on(AddSubscription.self) { try await service.add($0, $1) }
        router.on(ChangeSubscription.self) { command, _ in
            try await service.subscriptions.change(command)
            return Done()
        }
        router.on(ProveSubscription.self) { command, _ in
            try await service.subscriptions.prove(command)
            return Done()
        }
        router.on(RemoveSubscription.self) { command, _ in
            try await service.subscriptions.remove(command)
            return Done()
        }
        router.on(CountSubscriptions.self) { _, _ in service.counts }
        return router
    }
}
