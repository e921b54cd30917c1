import JSON

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
