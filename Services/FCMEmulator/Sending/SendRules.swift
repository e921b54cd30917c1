import Base

/// FCM's rules for a message beyond the types of its fields.
enum SendRules {
    /// - Throws: ``GoogleError`` for the first broken rule.
    static func check(_ message: JSONValue, _ android: AndroidConfig?) throws {
        try checkDataKeys(message["data"], field: "message.data")
        if let android { try check(android) }
        try checkDataKeys(message["webpush"]?["data"], field: "message.webpush.data")
        try checkAnalyticsLabel(of: message, at: "message")
        try checkAnalyticsLabel(of: message["webpush"], at: "message.webpush")
        try checkAnalyticsLabel(of: message["apns"], at: "message.apns")
        try checkWebPush(message["webpush"])
    }

    private static func check(_ android: AndroidConfig) throws {
        try checkDataKeys(android.data, field: "message.\(android.field).data")
        try check(analyticsLabel: android.analyticsLabel, at: "message.\(android.field)")
        if let color = android.notification?["color"]?.string, color.wholeMatch(of: /#[0-9a-fA-F]{6}/) == nil {
            throw GoogleError.refused(
                "Invalid color format: must be #RRGGBB", field: "message.\(android.notificationField).color")
        }
    }

    private static func checkWebPush(_ webpush: JSONValue?) throws {
        guard let webpush else { return }
        if let link = webpush["fcm_options"]?["link"]?.string, !link.hasPrefix("https://") {
            throw GoogleError.refused("Invalid link: it must be an HTTPS URL", field: "message.webpush.fcm_options.link")
        }
        if let time = webpush["headers"]?.header("ttl"), UInt64(time) == nil || time.hasPrefix("+") {
            throw GoogleError.refused("TTL must be a non-negative integer.", field: "message.webpush.headers.TTL")
        }
    }

    /// Keys that FCM reserves (discovery document, `Message.data`; the message-type page adds all keys that start with `gcm.`).
    private static func checkDataKeys(_ data: JSONValue?, field: String) throws {
        for member in data?.members ?? [] {
            let key = member.name
            if key == "from" || key == "message_type" || key.hasPrefix("google.") || key.hasPrefix("gcm.") {
                throw GoogleError.refused("Invalid data payload key: \(key.prefix(200))", field: field)
            }
        }
    }

    private static func checkAnalyticsLabel(of value: JSONValue?, at place: String) throws {
        try check(analyticsLabel: value?["fcm_options"]?["analytics_label"]?.string, at: place)
    }

    private static func check(analyticsLabel label: String?, at place: String) throws {
        guard let label, !label.isEmpty else { return }
        guard label.wholeMatch(of: /[a-zA-Z0-9\-_.~%]{1,50}/) != nil else {
            throw GoogleError.refused("Invalid analytics label", field: "\(place).fcm_options.analytics_label")
        }
    }
}

extension JSONValue {
    /// A header of APNs or web push. Names are case-insensitive; if a header is repeated, the last one counts.
    ///
    /// - Parameter name: In lower case.
    func header(_ name: String) -> String? {
        members?.last { $0.name.lowercased() == name }?.value.string
    }
}

/// FCM's payload limit. FCM documents its formula only as "keys and values". This one counts the data, and the notification's
/// title, body and image.
enum PayloadSize {
    /// The maximum payload of a message to a single phone, in bytes.
    static let maxBytes = 4_096

    static func check(
        _ message: JSONValue, _ android: AndroidConfig?, target: SendRequest.Target, topicLimit: Int
    ) throws {
        let limit =
            switch target {
            case .token, .installation: maxBytes
            case .topic, .condition: topicLimit
            }
        // A platform's own data replaces the message's, so each platform is measured separately.
        let data = [message["data"], android?.data, message["webpush"]?["data"]].map(bytes).max() ?? 0
        guard data + bytes(message["notification"]) <= limit,
            message["apns"]?["payload"]?.utf8.count ?? 0 <= maxBytes
        else { throw GoogleError.messageTooLarge(max: limit) }
    }

    private static func bytes(_ fields: JSONValue?) -> Int {
        (fields?.members ?? []).reduce(0) { $0 + $1.name.utf8.count + ($1.value.string?.utf8.count ?? 0) }
    }
}

/// FCM's rules for a message's APNs part.
enum APNsRules {
    /// - Throws: ``GoogleError`` for the first broken rule.
    static func check(_ message: JSONValue) throws {
        guard let apns = message["apns"] else { return }
        let aps = try apns["payload"].map(checked)
        let priority = apns["headers"]?.header("apns-priority")
        if let priority, !["1", "5", "10"].contains(priority) {
            throw GoogleError.refused("Invalid apns-priority: expected 1, 5 or 10", field: "message.apns.headers")
        }
        // APNs accepts a silent message only at priority 5. FCM checks this itself.
        if let aps, aps.isSilent, message["notification"] == nil, priority != "5" {
            throw GoogleError.refused(
                "A message with content-available and nothing to show must have apns-priority 5", field: "message.apns.headers")
        }
    }

    /// The payload's `aps`, with the value types checked.
    private static func checked(_ payload: JSONValue) throws -> JSONValue {
        guard let aps = payload["aps"], aps.members != nil else {
            throw GoogleError.refused(
                "Payload of Apple Push Notification Service must contain an [aps] key.", field: "message.apns.payload")
        }
        for name in ["badge", "content-available", "mutable-content"] {
            if let value = aps[name], value.number == nil { throw wrongType(name, "number") }
        }
        for name in ["category", "thread-id", "target-content-id", "interruption-level"] {
            if let value = aps[name], value.string == nil { throw wrongType(name, "string") }
        }
        // A text, or an object.
        for name in ["alert", "sound"] {
            if let value = aps[name], value.string == nil, value.members == nil { throw wrongType(name, "string") }
        }
        for name in ["title", "subtitle", "body"] {
            if let text = aps["alert"]?[name], text.string == nil { throw wrongType("alert.\(name)", "string") }
        }
        return aps
    }

    /// The error for a value of the wrong type. The text for `badge` was recorded from FCM; those for other keys imitate it.
    private static func wrongType(_ path: String, _ type: String) -> GoogleError {
        let key = path.split(separator: ".").last ?? ""
        return .refused("Value type for APS key [\(key)] is a \(type).", field: "message.apns.payload.aps.\(path)")
    }
}

extension JSONValue {
    /// Whether an `aps` only wakes the app and shows nothing.
    var isSilent: Bool {
        self["content-available"] == .number("1") && self["alert"] == nil && self["sound"] == nil && self["badge"] == nil
    }
}

/// A message's Android part, from either of FCM's two forms: `android` or `android_v2`.
struct AndroidConfig: Hashable, Sendable {
    /// The name of its field in the message.
    let field: String
    let data: JSONValue?
    let notification: JSONValue?
    /// The path of the notification's field, relative to the message.
    let notificationField: String
    let collapseKey: String?
    /// A duration, such as `3.5s`.
    let timeToLive: String?
    let analyticsLabel: String?
    /// `HIGH` or `NORMAL`; `nil` if the message has none.
    let priority: String?

    /// - Returns: `nil` for a message without an Android part.
    init?(of message: JSONValue) {
        let config: JSONValue
        if let android = message["android"] {
            config = android
            field = "android"
            notification = android["notification"]
            notificationField = "android.notification"
            priority = android["priority"]?.string
        } else if let android = message["android_v2"] {
            config = android
            field = "android_v2"
            let shown = android["remote_notification"]
            notification = shown?["notification"]
            notificationField = "android_v2.remote_notification.notification"
            // A message that shows something is urgent; a background sync is not.
            priority = shown == nil ? "NORMAL" : "HIGH"
        } else {
            return nil
        }
        data = config["data"]
        collapseKey = config["collapse_key"]?.string
        timeToLive = config["ttl"]?.string
        analyticsLabel = config["fcm_options"]?["analytics_label"]?.string
    }
}

/// FCM's refusals of a send. The recorded answers differ in the order and number of their `details`, so each has
/// its own definition.
extension GoogleError {
    /// A message that breaks one of FCM's rules. The details have the field first, then FCM's own code.
    static func refused(_ message: String, field: String) -> GoogleError {
        .fcm(.invalidArgument, message, before: badRequestDetail([FieldViolation(field: field, description: message)]))
    }

    static let recipientMissing = refused("Recipient of the message is not set.", field: "message")

    static let malformedTopic = refused("Topic name contains invalid characters.", field: "message")

    /// The only refusal with FCM's own code first.
    static let malformedToken: GoogleError = {
        let message = "The registration token is not a valid FCM registration token"
        return .fcm(
            .invalidArgument, message,
            after: badRequestDetail([FieldViolation(field: "message.token", description: message)]))
    }()

    /// The only refusal without `details`.
    static let malformedCondition = invalidArgument("Request contains an invalid argument.")

    static let unregistered = fcm(.unregistered, "Requested entity was not found.")

    /// - Parameter max: The limit in bytes.
    static func messageTooLarge(max: Int) -> GoogleError {
        let limit = max % 1_024 == 0 ? "\(max / 1_024)K (\(max) bytes)" : "\(max) bytes"
        return .fcm(
            .invalidArgument, "Message is too large. The maximum is \(limit).",
            before: ["@type": .string(badRequestType)])
    }
}
