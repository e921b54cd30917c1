import Schemas
import ServiceKit
import Time

/// The settings of the canary.
struct CanarySettings: Sendable {
    let topic: TopicKey
    /// The time between two messages.
    let interval: Duration
    let token: Secret
    /// The gateway's, without a slash at its end.
    let url: String

    /// - Throws: ``ConfigurationError``.
    init(_ settings: SettingValues) throws {
        topic = try settings.value(.canaryTopic)
        interval = Duration.seconds(try settings.value(.canaryInterval).rawValue)
        token = Secret(try settings.value(.canaryToken))
        url = try settings.optional(.gatewayURL) ?? "http://127.0.0.1:\(settings.value(.gatewayPort))"
    }
}
