import Bus
import Base
import Logging
import Schemas
import Store
import TestSupport
import WebPushStore

@testable import WebPush

/// Runs a test with the parts of a service, whose pushes go to a double.
///
/// - Parameter report: Gets what the people service is told.
func withWebPush(
    _ kind: StoreKind = .sqlite, limits: SubscriptionTally.Limits = .init(), hosts: PushHosts? = nil,
    report: @escaping @Sendable (EndDevicePushes) async throws(CommandFailure) -> Void = { _ in },
    logger: Logger = quietLogger,
    _ body: @Sendable (_ service: WebPush, _ sender: SenderDouble) async throws -> Void
) async throws {
    try await withWebPushStore(kind) { store, folder in
        try await withBus { bus in
            let messageLog = try CommandClient(bus: bus, endpoints: ["ipc://\(folder)/none.sock"], logger: quietLogger)
            let sender = SenderDouble()
            let subscriptions = Subscriptions(store: store, tally: SubscriptionTally(limits: limits))
            let keys = VAPIDKeys(store: store)
            let allowed = try hosts ?? PushHosts()
            let requests = PushRequests(keys: keys, tokens: VAPIDTokens(contact: "mailto:it@example.edu"), hosts: allowed)
            let ended = EndedSubscriptions(subscriptions, report: report, logger: quietLogger)
            let pushing = WebPush.Pushing(
                blocks: BlockRelay(subscriptions, requests: requests, sender: sender, ended: ended),
                firstPushes: FirstPushes(subscriptions, requests: requests, sender: sender, logger: logger),
                services: { [] })
            let service = WebPush(
                subscriptions: subscriptions, keys: keys, hosts: allowed,
                fanOut: FanOut(store: store, messageLog: messageLog, logger: quietLogger), ended: ended, pushing: pushing)
            try await body(service, sender)
        }
    }
}

extension CommandContext {
    static func sample(from address: String? = nil) -> CommandContext {
        CommandContext(id: "1", command: "test", address: address, logger: quietLogger)
    }
}

extension WebPush {
    /// Subscribes a browser, and returns the code of its first push.
    func subscribe(
        _ browser: Browser, alerts: [TopicKey] = [], information: [TopicKey] = [], app: String? = "https://hub.example.edu/app/",
        _ sender: SenderDouble
    ) async throws -> ObjectID {
        let command = browser.subscription(alerts: alerts, information: information, app: app)
        let reply = try await add(command, .sample())
        let request = sender.requests.last { $0.url == command.endpoint.text }
        let payload = try request.map { try browser.payload($0) }
        let code = Secret(payload?["msi"]?["code"]?.string ?? "")
        try await subscriptions.prove(ProveSubscription(id: reply.id, secret: reply.secret, code: code))
        return reply.id
    }
}
