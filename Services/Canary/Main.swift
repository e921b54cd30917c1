import AsyncHTTPClient
import Logging
import NIOCore
import Schemas
import ServiceKit
import Base

@main
enum Main {
    static func main() {
        ServiceMain.run(.canary, check: { _ = try CanarySettings($0.settings) }, wire: ServicePlan.canary)
    }
}

extension ServicePlan {
    /// Wires the canary together. The gateway need not be there yet.
    static func canary(_ wiring: Wiring) async throws -> ServicePlan {
        let settings = try CanarySettings(wiring.settings)
        let logger = wiring.logger
        var configuration = HTTPClient.Configuration()
        configuration.timeout.connect = .seconds(5)
        configuration.redirectConfiguration = .disallow
        configuration.connectionPool.retryConnectionEstablishment = false
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let hub = GatewayHub(http: http, url: settings.url, token: settings.token, topic: settings.topic)
        let metrics = CanaryMetrics(interval: settings.interval, now: .now)
        logger.info(
            "sends",
            metadata: ["gateway": "\(settings.url)", "topic_key": "\(settings.topic)", "interval": "\(settings.interval)"])
        guard let push = settings.push else {
            return ServicePlan(
                services: [Canary(hub: hub, interval: settings.interval, metrics: metrics, logger: logger)],
                close: { try await http.shutdown() })
        }
        let arrivals = AsyncStream<ObjectID>.makeStream(bufferingPolicy: .bufferingNewest(AddReceipts.maxMessages))
        let inbox = PushInbox { [reports = push.reports] msiKey in
            if reports { arrivals.continuation.yield(msiKey) }
        }
        let subscriber = PushSubscriber(
            hub: hub, inbox: inbox, url: push.url, interval: settings.interval, logger: logger)
        let watch = PushWatch(inbox: inbox, subscriber: subscriber, metrics: PushMetrics(now: .now), logger: logger)
        return ServicePlan(
            services: [
                PushServer(inbox: inbox).service(port: push.port, logger: logger), subscriber,
                PushReceipts(hub: hub, arrivals: arrivals.stream, logger: logger),
                Canary(hub: hub, interval: settings.interval, metrics: metrics, push: watch, logger: logger),
            ],
            close: {
                await subscriber.end()
                try await http.shutdown()
            })
    }
}

/// The settings of the canary.
struct CanarySettings: Sendable {
    let topic: TopicKey
    /// The time between two messages.
    let interval: Duration
    let token: Secret
    /// The gateway's URL without a trailing slash.
    let url: String
    /// `nil` without a Web Push subscription.
    let push: Push?

    /// The settings of the canary's Web Push subscription.
    struct Push: Hashable, Sendable {
        let port: Int
        /// The origin of its endpoint.
        let url: String
        /// Whether its pushes are reported as a phone reports them: without FCM it is the only way of a push.
        let reports: Bool
    }

    /// - Throws: ``ConfigurationError``.
    init(_ settings: SettingValues) throws {
        topic = try settings.value(.canaryTopic)
        interval = Duration.seconds(try settings.value(.canaryInterval).rawValue)
        token = Secret(try settings.value(.canaryToken))
        url = try settings.optional(.gatewayURL) ?? "http://127.0.0.1:\(settings.value(.gatewayPort))"
        let ownURL = try settings.optional(.canaryPushURL)
        push = try settings.optional(.canaryPushPort).map { port in
            Push(port: port, url: ownURL ?? "http://127.0.0.1:\(port)", reports: try !settings.usesFCM)
        }
    }
}
