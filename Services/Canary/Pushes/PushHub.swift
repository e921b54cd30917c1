import FoundationEssentials
import Base
import NIOHTTP1
import Schemas
import WebPushKeys

/// What the canary's subscription uses of the hub.
protocol PushHub: Sendable {
    /// Subscribes to the Information of the canary's subject.
    ///
    /// - Parameter endpoint: The URL for pushes.
    func subscribe(_ endpoint: String, keys: PushKeys) async throws -> PushSubscription

    /// Returns the code of the first push.
    func prove(_ subscription: PushSubscription, code: Secret) async throws

    /// Tells the hub that the subscription is in use.
    ///
    /// - Throws: ``HubFailure`` with the status 404 if it has ended.
    func refresh(_ subscription: PushSubscription) async throws

    func unsubscribe(_ subscription: PushSubscription) async throws

    /// Reports that messages have arrived, as a phone does.
    func report(_ receipts: AddReceipts) async throws
}

/// A subscription's id, and the secret that changes it.
typealias PushSubscription = AddSubscription.Reply

extension GatewayHub: PushHub {
    private static let subscriptions = "/app/push/subscriptions"

    private struct NewSubscription: Encodable {
        struct Keys: Encodable {
            let p256dh: String
            let auth: Secret
        }

        let endpoint: Secret
        let keys: Keys
        let alerts: [TopicKey]
        let information: [TopicKey]
    }

    private struct Subjects: Encodable {
        let alerts: [TopicKey]
        let information: [TopicKey]
    }

    private struct Proof: Encodable {
        let code: Secret
    }

    func subscribe(_ endpoint: String, keys: PushKeys) async throws -> PushSubscription {
        let body = NewSubscription(
            endpoint: Secret(endpoint), keys: .init(p256dh: keys.p256dh, auth: keys.authSecret), alerts: [topic],
            information: [topic])
        return try await answer(.POST, Self.subscriptions, try JSONCoder.encode(body), by: nil)
    }

    func prove(_ subscription: PushSubscription, code: Secret) async throws {
        let proof = try JSONCoder.encode(Proof(code: code))
        _ = try await content(.POST, Self.path(of: subscription) + "/proof", proof, by: subscription.secret)
    }

    func refresh(_ subscription: PushSubscription) async throws {
        let subjects = try JSONCoder.encode(Subjects(alerts: [topic], information: [topic]))
        _ = try await content(.PUT, Self.path(of: subscription), subjects, by: subscription.secret)
    }

    func unsubscribe(_ subscription: PushSubscription) async throws {
        _ = try await content(.DELETE, Self.path(of: subscription), nil, by: subscription.secret)
    }

    func report(_ receipts: AddReceipts) async throws {
        _ = try await content(.POST, "/receipt", try JSONCoder.encode(receipts), by: nil)
    }

    private static func path(of subscription: PushSubscription) -> String { "\(subscriptions)/\(subscription.id)" }
}
