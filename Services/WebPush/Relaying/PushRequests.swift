import FoundationEssentials
import Base
import Schemas
import WebPushKeys
import WebPushStore

/// Makes the requests to push services: the encrypted body, and the headers of RFC 8030 and 8292.
struct PushRequests: Sendable {
    let keys: VAPIDKeys
    let tokens: VAPIDTokens
    let hosts: PushHosts

    /// What all pushes of a message have in common.
    struct Headers: Sendable {
        let message: WebPushMessage
        /// How long the push services keep it.
        let ttl: Seconds

        /// - Parameter expires: When the push expires; `nil` for the maximum.
        init(_ message: WebPushMessage, expires: UnixMilliseconds?, now: UnixMilliseconds) {
            self.message = message
            let rest = expires.map { Seconds($0 - now) } ?? maxTimeToLive
            ttl = max(0, min(rest, message.ttl ?? maxTimeToLive, maxTimeToLive))
        }

        fileprivate var lines: [String] {
            [
                "ttl: \(ttl)", "urgency: \(message.urgency.rawValue)", "content-encoding: aes128gcm",
                "content-type: application/octet-stream",
            ] + (message.topic.map { ["topic: \($0)"] } ?? [])
        }
    }

    /// The request for one subscription.
    ///
    /// - Parameter template: The message's payload.
    /// - Throws: The failures of the store.
    func request(
        for subscription: SubscriptionDocument, _ template: inout PayloadTemplate, _ headers: Headers, now: UnixMilliseconds
    ) async throws -> Result<WebPushRequest, WebPushFailure> {
        guard let key = try await keys.key(subscription.key) else {
            return .failure(WebPushFailure(DeliveryError(.unregistered, "the hub's key of the subscription was removed"), .gone))
        }
        let text = template.data(for: subscription.app)
        guard text.count <= PushEncryption.maxLength else {
            return .failure(
                WebPushFailure(
                    DeliveryError(
                        .payloadTooLarge, "the push has \(text.count) bytes, and may have \(PushEncryption.maxLength)")))
        }
        do {
            let endpoint = try PushEndpoint(subscription.endpoint.text, allowed: hosts)
            let browser = try BrowserKeys(p256dh: subscription.p256dh, auth: subscription.auth)
            let authorization = try tokens.authorization(for: endpoint.origin, by: key, now: now)
            return .success(
                WebPushRequest(
                    url: endpoint.url, origin: endpoint.origin, isOperatorsOrigin: endpoint.isOperatorsOrigin,
                    headers: headers.lines + ["authorization: \(authorization)"],
                    body: try PushEncryption.encrypt(text, to: browser), isUrgent: headers.message.urgency == .high,
                    isProven: subscription.isProven))
        } catch let violation as SchemaViolation {
            // The operator may have removed the host from the settings.
            return .failure(WebPushFailure(DeliveryError(.invalidMessage, "the subscription is refused: \(violation)")))
        } catch {
            return .failure(WebPushFailure(DeliveryError(.invalidMessage, "the push cannot be encrypted")))
        }
    }
}
