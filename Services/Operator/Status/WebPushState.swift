import Bus
import Schemas
import ServiceKit

/// What `msi status` knows about the subscriptions of browsers.
enum WebPushState: Sendable {
    /// Web Push is switched off.
    case off
    case known(SubscriptionCounts)
    /// - Parameter problem: Why they are not known.
    case unknown(problem: String)

    /// How long the service may take for its answer.
    private static let timeout = Duration.seconds(2)
    /// The name of the message log's part for it in `GET /health`.
    private static let part = ServiceEntry.webpush.name

    var counts: SubscriptionCounts? {
        if case .known(let counts) = self { counts } else { nil }
    }

    var problem: String? {
        if case .unknown(let problem) = self { problem } else { nil }
    }

    /// Asks the service at the endpoints of the settings, if the message log says that Web Push is on.
    static func read(_ settings: SettingValues, _ health: ProductStatus.Health) async -> WebPushState {
        guard health.parts[ServiceEntry.messageLog.name]?[part] != nil else { return .off }
        do {
            let endpoints = try settings.value(.endpoints(of: .webpush))
            return .known(
                try await CommandClient.with(endpoints, settings) { try await $0.request(CountSubscriptions(), timeout: timeout) }
            )
        } catch {
            return .unknown(problem: (error as? CommandFailure)?.message ?? "\(error)")
        }
    }

    /// The lines for a person.
    func lines(at now: UnixMilliseconds) -> [String] {
        switch self {
        case .off: []
        case .known(let counts):
            counts.lines(at: now).enumerated().map { index, line in index == 0 ? "Web Push: \(line)" : line }
        case .unknown(let problem): ["Web Push: the subscriptions are not known: \(problem)".onOneLine(maxLength: 300)]
        }
    }
}
