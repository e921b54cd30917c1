/// One component in the form of FCM's HTTP v1 API: the `message` of `POST /v1/projects/{project}/messages:send`.
///
/// The seed's mapping was made for the legacy API. Field by field: `to: "/topics/T"` is `topic: "T"`; `priority: "high"` is
/// `android.priority` and, for a notification, `apns-priority: 10`; `sound` moves into `android.notification` and `aps`;
/// `content_available` becomes `aps.content-available: 1`, which APNs takes at priority 5 only; every value of `data` is a
/// string.
package struct FCMMessage: Codable, Hashable, Sendable {
    package struct Notification: Codable, Hashable, Sendable {
        package let title: String
        package let body: String
    }

    package struct Android: Codable, Hashable, Sendable {
        package struct Notification: Codable, Hashable, Sendable {
            package let sound: String
        }

        package let priority: String
        /// Seconds as a protobuf duration, such as `3600s`.
        package let ttl: String
        package let notification: Notification?
    }

    package struct APNs: Codable, Hashable, Sendable {
        package struct Payload: Codable, Hashable, Sendable {
            package let aps: APS
        }

        package struct APS: Codable, Hashable, Sendable {
            package let sound: String?
            package let contentAvailable: Int?

            private enum CodingKeys: String, CodingKey {
                case sound
                case contentAvailable = "content-available"
            }
        }

        package let headers: [String: String]
        package let payload: Payload
    }

    package let topic: String
    package let data: [String: String]
    package let notification: Notification?
    package let android: Android
    package let apns: APNs
}

extension FCMMessage {
    /// FCM's longest and default time to live: four weeks, in seconds.
    package static let longestTimeToLive: Int64 = 2_419_200

    /// Maps one component of a message (seed, "Message Format").
    ///
    /// - Parameter now: When it is sent, Unix milliseconds: a phone that is off keeps the message waiting at FCM until the
    ///   message expires, and no longer.
    package init(_ component: Component, of message: RelayMessage, now: UnixMilliseconds) {
        let draft = message.draft
        let remaining = message.expires.map { max(0, ($0 - now) / 1_000) } ?? Self.longestTimeToLive
        let timeToLive = min(remaining, draft.ttl ?? Self.longestTimeToLive, Self.longestTimeToLive)
        let isNotification = component == .notification

        topic = draft.topicKey.description
        notification = isNotification ? Notification(title: draft.title, body: draft.desc) : nil
        data =
            isNotification
            ? ["msi_key": message.msiKey.description]
            : [
                "msi_key": message.msiKey.description,
                "topic_key": draft.topicKey.description,
                "dist": draft.distribution.rawValue,
                "title": draft.title,
                "desc": draft.desc,
                "message": draft.message,
                "timestamp": String(message.timestamp),
            ]
        android = Android(
            priority: "HIGH", ttl: "\(timeToLive)s", notification: isNotification ? .init(sound: "default") : nil)
        apns = APNs(
            headers: [
                "apns-priority": isNotification ? "10" : "5",
                "apns-push-type": isNotification ? "alert" : "background",
                // APNs's way of writing now or never.
                "apns-expiration": timeToLive == 0 ? "0" : String(now / 1_000 + timeToLive),
            ],
            payload: .init(
                aps: isNotification
                    ? .init(sound: "default", contentAvailable: nil) : .init(sound: nil, contentAvailable: 1)))
    }

    /// What FCM counts against its limit: the bytes of the keys and values that reach the phone's app.
    package var payloadBytes: Int {
        let dataBytes = data.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        let notificationBytes = notification.map {
            "title".utf8.count + $0.title.utf8.count + "body".utf8.count + $0.body.utf8.count
        }
        return dataBytes + (notificationBytes ?? 0)
    }
}
