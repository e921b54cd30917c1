package import FoundationEssentials
import JSON
package import Schemas
import Time

/// A push in the form of FCM's v1 API.
package struct FCMPush: Sendable {
    private let message: JSONValue
    private let validateOnly: Bool

    /// - Parameters:
    ///   - push: Its message is as ``FCMRules/checked(_:for:limit:)`` returns it.
    ///   - now: The time of sending. FCM keeps the push for phones that are off until it expires, or until
    ///     its own times to live end.
    package init(_ push: RelayPush, now: UnixMilliseconds) {
        var message = push.message
        if let expires = push.expires {
            let remaining = min(max(0, Seconds(expires - now)), maxTimeToLive)
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
        var request: JSONValue = ["message": message]
        if validateOnly { request["validate_only"] = true }
        return try JSONCoder.encode(request)
    }

    private static func limitAndroid(_ message: inout JSONValue, to time: Seconds) {
        let name = message["android_v2"] == nil ? "android" : "android_v2"
        var android = message[name] ?? [:]
        let own = android["ttl"]?.string.flatMap(FCMDuration.init)
        if own.map({ $0.whole >= time }) ?? true { android["ttl"] = "\(time)s" }
        message[name] = android
    }

    private static func limitAPNs(_ message: inout JSONValue, to time: Seconds, from now: UnixMilliseconds) {
        var apns = message["apns"] ?? [:]
        let own = apns.header("apns-expiration")
        let limit = FCMMessage.apnsExpiration(time, from: now)
        // 0 tells APNs not to store it.
        let isEarlier = own.flatMap { Int64($0.value) }.map { $0 == 0 || $0 <= (Int64(limit) ?? 0) } ?? false
        guard !isEarlier else { return }
        apns.setHeader(own?.name ?? "apns-expiration", limit)
        message["apns"] = apns
    }

    private static func limitWebPush(_ message: inout JSONValue, to time: Seconds) {
        var webpush = message["webpush"] ?? [:]
        let own = webpush.header("ttl")
        guard own.flatMap({ Int64($0.value) }).map({ $0 > time.rawValue }) ?? true else { return }
        webpush.setHeader(own?.name ?? "TTL", time.description)
        message["webpush"] = webpush
    }
}

extension JSONValue {
    /// Sets a header of APNs or web push.
    fileprivate mutating func setHeader(_ name: String, _ value: String) {
        var headers = self["headers"] ?? [:]
        headers[name] = .string(value)
        self["headers"] = headers
    }
}
