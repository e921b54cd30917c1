import FCM
import Base
import Schemas
import Testing

/// A message as FCM reads it.
struct FCMMessage: Codable, Hashable, Sendable {
    struct Notification: Codable, Hashable, Sendable {
        let title: String
        let body: String
        let image: String?
    }

    struct Android: Codable, Hashable, Sendable {
        struct Notification: Codable, Hashable, Sendable {
            let sound: String
            let channelID: String?
            /// A later pop-up with the same tag replaces this one.
            let tag: String

            private enum CodingKeys: String, CodingKey {
                case sound, tag
                case channelID = "channel_id"
            }
        }

        let priority: String
        /// Seconds as a protobuf duration, such as `3600s`.
        let ttl: String
        let collapseKey: String?
        let notification: Notification?

        private enum CodingKeys: String, CodingKey {
            case priority, ttl, notification
            case collapseKey = "collapse_key"
        }
    }

    struct APNs: Codable, Hashable, Sendable {
        struct Payload: Codable, Hashable, Sendable {
            let aps: APS
        }

        struct APS: Codable, Hashable, Sendable {
            let sound: String?
            let category: String?
            let contentAvailable: Int?
            /// Lets the app's service extension fetch the picture before the pop-up is shown.
            let mutableContent: Int?

            private enum CodingKeys: String, CodingKey {
                case sound, category
                case contentAvailable = "content-available"
                case mutableContent = "mutable-content"
            }
        }

        struct Options: Codable, Hashable, Sendable {
            let image: String
        }

        let headers: [String: String]
        let payload: Payload
        let fcmOptions: Options?

        private enum CodingKeys: String, CodingKey {
            case headers, payload
            case fcmOptions = "fcm_options"
        }
    }

    struct Options: Codable, Hashable, Sendable {
        let analyticsLabel: String

        private enum CodingKeys: String, CodingKey {
            case analyticsLabel = "analytics_label"
        }
    }

    /// Exactly one of these three is set.
    let topic: String?
    let condition: String?
    let token: String?
    let data: [String: String]
    let notification: Notification?
    let android: Android
    let apns: APNs
    let fcmOptions: Options?

    private enum CodingKeys: String, CodingKey {
        case topic, condition, token, data, notification, android, apns
        case fcmOptions = "fcm_options"
    }
}

/// The body of a request to FCM.
struct SentRequest: Codable, Hashable, Sendable {
    let message: FCMMessage
    let validateOnly: Bool?

    private enum CodingKeys: String, CodingKey {
        case message
        case validateOnly = "validate_only"
    }

    /// Reads the request for one component. Its bytes must be those of an encoder.
    init(
        _ component: Component, of message: RelayMessage, now: UnixMilliseconds, defaults: FCMDefaults = FCMDefaults()
    ) throws {
        let body = FCMRequest.body(component, of: message, now: now, defaults: defaults)
        self = try JSONCoder.decode(SentRequest.self, from: body)
        let encoded = try JSONCoder.encode(self)
        #expect(String(decoding: body, as: UTF8.self) == String(decoding: encoded, as: UTF8.self))
    }
}

extension FCMMessage {
    init(
        _ component: Component, of message: RelayMessage, now: UnixMilliseconds, defaults: FCMDefaults = FCMDefaults()
    ) throws {
        self = try SentRequest(component, of: message, now: now, defaults: defaults).message
    }

    /// The bytes of the keys and values that FCM counts.
    var sentBytes: Int {
        var fields = data
        if let notification {
            fields["title"] = notification.title
            fields["body"] = notification.body
            fields["image"] = notification.image
        }
        return fields.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
    }
}
