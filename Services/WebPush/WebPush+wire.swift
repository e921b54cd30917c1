import Base
import Bus
import Logging
import Schemas
import ServiceKit
import ServiceLifecycle
import Store
import WebPushStore

extension ServicePlan {
    /// Wires the Web Push service together. No push service need be reachable yet.
    static func webPush(_ wiring: Wiring) async throws -> ServicePlan {
        let settings = wiring.settings
        let logger = wiring.logger
        let hosts = try settings.optional(.webPushHosts) { try PushHosts(operators: $0) } ?? PushHosts()
        let contact = try settings.webPushContact
        let place = StoragePlace(
            database: try settings.optional(.databaseURL, as: MongoURL.init), folder: try settings.value(.stateDirectory))
        let store = try await Storage.open(WebPushStore.declaration, at: place, logger: logger)
        let bus = try Bus(settings, logger: logger)
        let messageLog = try CommandClient(bus: bus, endpoints: settings.value(.endpoints(of: .messageLog)), logger: logger)
        let people = try CommandClient(bus: bus, endpoints: settings.value(.endpoints(of: .people)), logger: logger)
        let keys = VAPIDKeys(store: store)
        let subscriptions = Subscriptions(store: store, tally: SubscriptionTally())
        let ended = EndedSubscriptions(
            subscriptions,
            report: { command throws(CommandFailure) in _ = try await people.request(command) }, logger: logger)
        let retries = Backoff(first: .seconds(1), max: .seconds(30))
        var services: [any Service] = [
            // Another instance may have rotated the keys.
            RepeatingService(
                every: .seconds(30), retries: retries, outage: OutageLog("the keys cannot be read", logger: logger)
            ) { try await keys.refresh() },
            RepeatingService(
                every: .seconds(300), retries: retries, outage: OutageLog("subscriptions cannot be counted", logger: logger)
            ) { try await subscriptions.recount() },
            ended,
        ]
        let sender = try contact.map { _ in
            try PushServices(certificateAuthorityFile: settings.optional(.webPushCAFile), logger: logger)
        }
        var pushing: WebPush.Pushing?
        if let contact, let sender {
            let requests = PushRequests(keys: keys, tokens: VAPIDTokens(contact: contact), hosts: hosts)
            let counted = CountedPushes(sender, labels: hosts.labels)
            let firstPushes = FirstPushes(subscriptions, requests: requests, sender: counted, logger: logger)
            services.append(firstPushes)
            pushing = WebPush.Pushing(
                blocks: BlockRelay(subscriptions, requests: requests, sender: counted, ended: ended), firstPushes: firstPushes,
                services: { sender.states })
        }
        let service = WebPush(
            subscriptions: subscriptions, keys: keys, hosts: hosts,
            fanOut: FanOut(store: store, messageLog: messageLog, logger: logger), ended: ended, pushing: pushing)
        var limits = ServerLimits()
        limits.drainTimeout = DeliveryTimes.relayDrainTimeout
        let server = try CommandServer(
            bus: bus, endpoint: settings.value(.listen(.webpush)), router: .webPush(service), limits: limits, logger: logger)
        services.append(WebPushServer(server: server, pushServices: sender))
        return ServicePlan(
            services: services,
            selfCheck: .commands(of: server, bus: bus, logger: logger),
            collectMetrics: { service.collectMetrics() },
            close: {
                await bus.close()
                await sender?.close()
                try await store.close()
            })
    }
}
