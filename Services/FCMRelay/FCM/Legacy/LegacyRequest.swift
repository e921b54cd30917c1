import FCM
import Schemas
import Time

/// A component in the form of FCM's legacy HTTP API (seed, "Message Format").
///
/// The category of Apple's phones is left out, since that API does not support it.
struct LegacyRequest: Encodable, Hashable, Sendable {
    struct Notification: Encodable, Hashable, Sendable {
        let title: String
        let body: String
        let sound: String
        let image: String?
        let channelID: String?
        let tag: String?

        private enum CodingKeys: String, CodingKey {
            case title, body, sound, image, tag
            case channelID = "android_channel_id"
        }
    }

    /// The message's fields. All of them are texts except the time.
    struct Content: Encodable, Hashable, Sendable {
        let fields: [String: String]

        private struct Key: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }

            init(_ name: String) { stringValue = name }
            init?(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            for (name, text) in fields {
                if name == "timestamp", let time = UnixMilliseconds(text) {
                    try container.encode(time, forKey: Key(name))
                } else {
                    try container.encode(text, forKey: Key(name))
                }
            }
        }
    }

    struct Options: Encodable, Hashable, Sendable {
        let analyticsLabel: String

        private enum CodingKeys: String, CodingKey {
            case analyticsLabel = "analytics_label"
        }
    }

    /// A topic or token; `nil` if there is a condition.
    let to: String?
    let condition: String?
    let priority: String
    let contentAvailable: Bool?
    let mutableContent: Bool?
    let timeToLive: Seconds?
    let collapseKey: String?
    let notification: Notification?
    let data: Content
    let dryRun: Bool?
    let options: Options?

    private enum CodingKeys: String, CodingKey {
        case to, condition, priority, notification, data
        case contentAvailable = "content_available"
        case mutableContent = "mutable_content"
        case timeToLive = "time_to_live"
        case collapseKey = "collapse_key"
        case dryRun = "dry_run"
        case options = "fcm_options"
    }

    init(_ request: FCMRequest) {
        let message = request.message
        to = message.topic.map { "/topics/\($0)" } ?? message.token
        condition = message.condition
        priority = message.android.priority.lowercased()
        contentAvailable = message.apns.payload.aps.contentAvailable == 1 ? true : nil
        mutableContent = message.apns.payload.aps.mutableContent == 1 ? true : nil
        timeToLive = Int64(message.android.ttl.dropLast()).map(Seconds.init(rawValue:))
        collapseKey = message.android.collapseKey
        notification = message.notification.map { notification in
            Notification(
                title: notification.title, body: notification.body, sound: message.android.notification?.sound ?? "default",
                image: notification.image, channelID: message.android.notification?.channelID,
                tag: message.android.notification?.tag)
        }
        data = Content(fields: message.data)
        dryRun = request.validateOnly ? true : nil
        options = message.fcmOptions.map { Options(analyticsLabel: $0.analyticsLabel) }
    }
}
