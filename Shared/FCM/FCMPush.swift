package import FoundationEssentials
import JSON
package import Schemas
import Time

/// A push in the form of FCM's v1 API.
package struct FCMPush: Sendable {
    private let message: [String: AnyJSON]
    private let validateOnly: Bool

    /// - Parameters:
    ///   - push: Its message is as ``FCMRules/checked(_:for:limit:)`` returns it.
    ///   - now: The time of sending. FCM keeps the push for phones that are off until it expires, or until
    ///     its own times to live end.
    package init(_ push: RelayPush, now: UnixMilliseconds) {
        var message = push.message.members ?? [:]
        if let expires = push.expires {
            let remaining = min(max(0, (expires - now).rawValue / 1_000), maxTimeToLive)
            Self.limitAndroid(&message, to: remaining)
            Self.limitAPNs(&message, to: remaining, from: now)
            Self.limitWebPush(&message, to: remaining)
        }
        self.message = message
        validateOnly = push.validateOnly ?? false
    }

    /// The body of the request for one recipient.
    ///
    /// - Throws: An encoder's error.
    package func body(for recipient: PushRecipient) throws -> Data {
        var message = message
        message[recipient.field.rawValue] = .string(recipient.text)
        var request: [String: AnyJSON] = ["message": .object(message)]
        if validateOnly { request["validate_only"] = true }
        return try JSONCoder.encode(AnyJSON.object(request))
    }

    private static func limitAndroid(_ message: inout [String: AnyJSON], to seconds: Int64) {
        let name = message["android_v2"] == nil ? "android" : "android_v2"
        var android = message[name]?.members ?? [:]
        let own = android["ttl"]?.string.flatMap(FCMDuration.init)
        if own.map({ $0.wholeSeconds >= seconds }) ?? true { android["ttl"] = .string("\(seconds)s") }
        message[name] = .object(android)
    }

    private static func limitAPNs(_ message: inout [String: AnyJSON], to seconds: Int64, from now: UnixMilliseconds) {
        var apns = message["apns"]?.members ?? [:]
        let own = message["apns"]?.header("apns-expiration")
        let limit = FCMMessage.apnsExpiration(seconds, from: now)
        // 0 tells APNs not to store it.
        let isEarlier = own.flatMap { Int64($0.value) }.map { $0 == 0 || $0 <= (Int64(limit) ?? 0) } ?? false
        guard !isEarlier else { return }
        var headers = apns["headers"]?.members ?? [:]
        headers[own?.name ?? "apns-expiration"] = .string(limit)
        apns["headers"] = .object(headers)
        message["apns"] = .object(apns)
    }

    private static func limitWebPush(_ message: inout [String: AnyJSON], to seconds: Int64) {
        var webpush = message["webpush"]?.members ?? [:]
        let own = message["webpush"]?.header("ttl")
        guard own.flatMap({ Int64($0.value) }).map({ $0 > seconds }) ?? true else { return }
        var headers = webpush["headers"]?.members ?? [:]
        headers[own?.name ?? "TTL"] = .string(String(seconds))
        webpush["headers"] = .object(headers)
        message["webpush"] = .object(webpush)
    }
}
