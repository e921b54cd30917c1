package import Schemas
import Time

/// One component in the form of FCM's HTTP v1 API: the `message` of `POST /v1/projects/{project}/messages:send`.
///
/// The seed's mapping is for the legacy API. Field by field: `to: "/topics/T"` becomes `topic: "T"`; `priority: "high"`
/// becomes `android.priority` and, for a notification, `apns-priority: 10`; `sound` moves into `android.notification` and
/// `aps`; `content_available` becomes `aps.content-available: 1`, which APNs accepts only at priority 5; every value of
/// `data` is a string.
package struct FCMMessage: Codable, Hashable, Sendable {
    package struct Notification: Codable, Hashable, Sendable {
        package let title: String
        package let body: String
        package let image: String?
    }

    package struct Android: Codable, Hashable, Sendable {
        package struct Notification: Codable, Hashable, Sendable {
            package let sound: String
            package let channelID: String?
            /// A later pop-up with the same tag replaces this one.
            package let tag: String

            private enum CodingKeys: String, CodingKey {
                case sound, tag
                case channelID = "channel_id"
            }
        }

        package let priority: String
        /// Seconds as a protobuf duration, such as `3600s`.
        package let ttl: String
        package let collapseKey: String?
        package let notification: Notification?

        private enum CodingKeys: String, CodingKey {
            case priority, ttl, notification
            case collapseKey = "collapse_key"
        }
    }

    package struct APNs: Codable, Hashable, Sendable {
        package struct Payload: Codable, Hashable, Sendable {
            package let aps: APS
        }

        package struct APS: Codable, Hashable, Sendable {
            package let sound: String?
            package let category: String?
            package let contentAvailable: Int?
            /// Lets the app's service extension fetch the picture before the pop-up is shown.
            package let mutableContent: Int?

            private enum CodingKeys: String, CodingKey {
                case sound, category
                case contentAvailable = "content-available"
                case mutableContent = "mutable-content"
            }
        }

        package struct Options: Codable, Hashable, Sendable {
            package let image: String
        }

        package let headers: [String: String]
        package let payload: Payload
        package let fcmOptions: Options?

        private enum CodingKeys: String, CodingKey {
            case headers, payload
            case fcmOptions = "fcm_options"
        }
    }

    package struct Options: Codable, Hashable, Sendable {
        package let analyticsLabel: String

        private enum CodingKeys: String, CodingKey {
            case analyticsLabel = "analytics_label"
        }
    }

    /// Exactly one of these three is set.
    package let topic: String?
    package let condition: String?
    package let token: String?
    package let data: [String: String]
    package let notification: Notification?
    package let android: Android
    package let apns: APNs
    package let fcmOptions: Options?

    private enum CodingKeys: String, CodingKey {
        case topic, condition, token, data, notification, android, apns
        case fcmOptions = "fcm_options"
    }
}

extension FCMMessage {
    /// Maps one component of a message (seed, "Message Format").
    ///
    /// - Parameter now: The time of sending. FCM keeps the message for phones that are off until it expires.
    package init(
        _ component: Component, of message: RelayMessage, now: UnixMilliseconds, defaults: FCMDefaults = FCMDefaults()
    ) {
        let draft = message.draft
        let options = draft.options
        let isNotification = component == .notification
        let timeToLive = message.timeToLive(from: now, defaults)
        let texts = FittingTexts(component, of: message, within: defaults.payloadLimit.bytes(to: message.target))
        let image = isNotification ? options?.image : nil
        // FCM keeps only the newest message of a key. With one key for both, an Alert's data would replace its pop-up.
        let collapseKey = options?.collapseKey.map { isNotification ? $0 : $0 + ".data" }

        topic = message.target == .topic ? draft.topicKey.description : nil
        condition = if case .condition(let condition) = message.target { condition } else { nil }
        token = if case .token(let token) = message.target { token } else { nil }
        notification = isNotification ? Notification(title: draft.title, body: texts.desc ?? "", image: image) : nil
        var data = ["msi_key": message.msiKey.description]
        if !isNotification {
            data["topic_key"] = draft.topicKey.description
            data["dist"] = draft.distribution.rawValue
            data["title"] = draft.title
            data["desc"] = texts.desc
            data["message"] = texts.message
            data["timestamp"] = String(message.timestamp)
            data["omitted"] = texts.omitted
            data["corrects"] = draft.corrects?.description
        }
        self.data = data
        android = Android(
            priority: message.priority(defaults).rawValue.uppercased(), ttl: "\(timeToLive)s", collapseKey: collapseKey,
            notification: isNotification
                ? .init(sound: "default", channelID: options?.android?.channelID, tag: message.popup) : nil)
        var headers = [
            "apns-priority": isNotification ? "10" : "5",
            "apns-push-type": isNotification ? "alert" : "background",
            "apns-expiration": Self.apnsExpiration(timeToLive, from: now),
        ]
        headers["apns-collapse-id"] = collapseKey ?? (isNotification ? message.popup : nil)
        apns = APNs(
            headers: headers,
            payload: .init(
                aps: APNs.APS(
                    sound: isNotification ? "default" : nil, category: isNotification ? options?.apns?.category : nil,
                    contentAvailable: isNotification ? nil : 1, mutableContent: image == nil ? nil : 1)),
            fcmOptions: image.map { .init(image: $0) })
        fcmOptions = options?.analyticsLabel.map { Options(analyticsLabel: $0) }
    }

    /// When APNs discards a message, in Unix seconds. 0 means that it is not stored.
    static func apnsExpiration(_ timeToLive: Seconds, from now: UnixMilliseconds) -> String {
        timeToLive == 0 ? "0" : String(now.seconds + timeToLive.rawValue)
    }

    /// The size that FCM's limit applies to, if no text is left out: the bytes of the keys and values that reach the phone's app. It
    /// is computed for every message, so the component is not built for it.
    package static func payloadBytes(_ component: Component, of message: RelayMessage) -> Int {
        let draft = message.draft
        let keyBytes = "msi_key".utf8.count + 24
        let titleBytes = "title".utf8.count + draft.title.utf8.count
        switch component {
        case .notification:
            let imageBytes = draft.options?.image.map { "image".utf8.count + $0.utf8.count } ?? 0
            return keyBytes + titleBytes + "body".utf8.count + draft.desc.utf8.count + imageBytes
        case .data:
            let placeBytes = "topic_key".utf8.count + 74 + "dist".utf8.count + draft.distribution.rawValue.utf8.count
            let textBytes = "desc".utf8.count + draft.desc.utf8.count + "message".utf8.count + draft.message.utf8.count
            let correctionBytes = draft.corrects == nil ? 0 : "corrects".utf8.count + 24
            return keyBytes + placeBytes + titleBytes + textBytes + "timestamp".utf8.count
                + String(message.timestamp).utf8.count + correctionBytes
        }
    }
}

extension RelayMessage {
    /// How long FCM keeps it for phones that are off: its time to live, but not past its expiry.
    func timeToLive(from now: UnixMilliseconds, _ defaults: FCMDefaults) -> Seconds {
        let remaining = expires.map { max(0, Seconds($0 - now)) } ?? defaultTimeToLive(defaults)
        return min(remaining, draft.ttl ?? maxTimeToLive, maxTimeToLive)
    }

    /// What names its pop-up on the phone: the `msi_key` of the message, or of the one that it corrects. Then a correction takes the
    /// place of the pop-up, and a message that is sent twice shows once.
    var popup: String { (draft.corrects ?? msiKey).description }

    /// The default if neither the command nor the message sets an expiry.
    private func defaultTimeToLive(_ defaults: FCMDefaults) -> Seconds {
        draft.ttl == nil && draft.distribution == .alert ? defaults.alertTimeToLive : maxTimeToLive
    }

    /// The priority of both components of an Alert is always high, since one of them shows something.
    func priority(_ defaults: FCMDefaults) -> FCMDefaults.Priority {
        draft.distribution == .alert ? .high : defaults.informationPriority
    }
}
