package import FoundationEssentials
package import Base
package import Schemas

/// A push in the form of FCM's v1 API.
package struct FCMPush: Sendable {
    /// What follows the recipient in the body of a request: the other fields of the message.
    private let rest: Data

    /// Writes the message once for all recipients.
    ///
    /// - Parameters:
    ///   - push: Its message is as ``FCMRules/checked(_:for:limit:)`` returns it, so it names no recipient.
    ///   - now: The time of sending. FCM keeps the push for phones that are off until it expires, or until
    ///     its own times to live end.
    /// - Throws: An encoder's error.
    package init(_ push: RelayPush, now: UnixMilliseconds) throws {
        var message = push.message
        if let expires = push.expires {
            let remaining = min(max(0, Seconds(expires - now)), maxTimeToLive)
            Self.limitAndroid(&message, to: remaining)
            Self.limitAPNs(&message, to: remaining, from: now)
            Self.limitWebPush(&message, to: remaining)
        }
        // `{…}`, whose members come behind the recipient.
        let members = try JSONCoder.encode(message).dropFirst()
        var rest = Data(members.count > 1 ? ",".utf8 : "".utf8)
        rest += members
        rest += (push.validateOnly ?? false ? #","validate_only":true}"# : "}").utf8
        self.rest = rest
    }

    /// The body of the request for one recipient.
    package func body(for recipient: PushRecipient) -> Data {
        var json = JSONBytes(capacity: 32 + recipient.text.utf8.count + rest.count)
        json.append(#"{"message":{""#)
        json.append(characters: recipient.field.rawValue)
        json.append(#"":"#)
        json.append(text: recipient.text)
        rest.withUnsafeBytes { json.append($0) }
        return json.data()
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
        let limit = FCMRequest.apnsExpiration(time, from: now)
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

extension BroadcastPushData {
    /// The FCM message: only data, which the app shows itself when it is started. To iOS such a message must have APNs' priority 5. To
    /// Android it has normal priority, even for a downtime: Android lowers the priority of apps whose high-priority messages show no
    /// notification, and then Alerts are late, too. An app asks the hub when it is started.
    ///
    /// - Throws: An encoder's error.
    package var message: JSONValue {
        get throws {
            [
                "data": .texts(try data),
                "android": ["priority": "NORMAL"],
                "apns": [
                    "headers": ["apns-priority": "5", "apns-push-type": "background"],
                    "payload": ["aps": ["content-available": 1]],
                ],
            ]
        }
    }
}

extension BroadcastPopup {
    /// The FCM message: a notification, which the system shows even while the app does not run. It is a separate message,
    /// because Android passes an app in the background no data of a message that has both.
    package var message: JSONValue {
        [
            "notification": ["title": .string(texts.title), "body": .string(texts.msg)],
            "data": .texts(data),
            "android": ["priority": "HIGH", "notification": ["sound": "default", "tag": .string(tag)]],
            "apns": [
                "headers": ["apns-priority": "10", "apns-push-type": "alert", "apns-collapse-id": .string(tag)],
                "payload": ["aps": ["sound": "default"]],
            ],
        ]
    }
}

extension JSONValue {
    /// The same texts make the same bytes.
    fileprivate static func texts(_ texts: [String: String]) -> JSONValue {
        .object(texts.sorted { $0.key < $1.key }.map { Member($0.key, .string($0.value)) })
    }
}
