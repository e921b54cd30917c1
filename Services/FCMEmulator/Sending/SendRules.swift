/// What FCM asks of a message beyond the types of its fields.
enum SendRules {
    /// - Throws: ``GoogleError`` for the first rule that is broken.
    static func check(_ message: JSONValue) throws {
        try checkDataKeys(message["data"], field: "message.data")
        try checkDataKeys(message["android"]?["data"], field: "message.android.data")
        try checkDataKeys(message["webpush"]?["data"], field: "message.webpush.data")
        try checkAnalyticsLabels(message)
        if let color = message["android"]?["notification"]?["color"]?.string,
            color.wholeMatch(of: /#[0-9a-fA-F]{6}/) == nil
        {
            throw violation("Invalid color format: must be #RRGGBB", field: "message.android.notification.color")
        }
        if let link = message["webpush"]?["fcm_options"]?["link"]?.string, !link.hasPrefix("https://") {
            throw violation("Invalid link: it must be an HTTPS URL", field: "message.webpush.fcm_options.link")
        }
        try checkAPNs(message)
    }

    /// Keys that FCM keeps for itself (discovery document, `Message.data`; the message-type page adds all of `gcm.`).
    private static func checkDataKeys(_ data: JSONValue?, field: String) throws {
        for member in data?.members ?? [] {
            let key = member.name
            if key == "from" || key == "message_type" || key.hasPrefix("google.") || key.hasPrefix("gcm.") {
                throw violation("Invalid data payload key: \(key.prefix(200))", field: field)
            }
        }
    }

    private static func checkAnalyticsLabels(_ message: JSONValue) throws {
        let places: [(JSONValue?, String)] = [
            (message, "message"), (message["android"], "message.android"), (message["webpush"], "message.webpush"),
            (message["apns"], "message.apns"),
        ]
        for (value, place) in places {
            guard let label = value?["fcm_options"]?["analytics_label"]?.string, !label.isEmpty else { continue }
            guard label.wholeMatch(of: /[a-zA-Z0-9\-_.~%]{1,50}/) != nil else {
                throw violation("Invalid analytics label", field: "\(place).fcm_options.analytics_label")
            }
        }
    }

    /// APNs takes a silent message at priority 5 only, and FCM says so at once.
    private static func checkAPNs(_ message: JSONValue) throws {
        let apns = message["apns"]
        let priority = apns?["headers"]?.members?.last { $0.name.lowercased() == "apns-priority" }?.value.string
        if let priority, !["1", "5", "10"].contains(priority) {
            throw violation("Invalid apns-priority: expected 1, 5 or 10", field: "message.apns.headers")
        }
        guard let aps = apns?["payload"]?["aps"] else { return }
        let isSilent =
            aps["content-available"] == .number("1") && aps["alert"] == nil && aps["sound"] == nil && aps["badge"] == nil
            && message["notification"] == nil
        if isSilent, priority != "5" {
            throw violation(
                "A message with content-available and nothing to show must have apns-priority 5", field: "message.apns.headers")
        }
    }

    private static func violation(_ message: String, field: String) -> GoogleError {
        .fcm(.invalidArgument, message, field: field)
    }
}

/// FCM's limit on what a message carries. Its formula is undocumented beyond "keys and values"; this one counts the data and
/// the notification's title, body and image.
enum PayloadSize {
    /// The most bytes of a message to a single phone.
    static let longest = 4_096

    static func check(_ message: JSONValue, target: SendRequest.Target, topicLimit: Int) throws {
        let limit =
            switch target {
            case .token, .installation: longest
            case .topic, .condition: topicLimit
            }
        // A platform's own data stands in place of the message's, so each platform is measured apart.
        let data = [message["data"], message["android"]?["data"], message["webpush"]?["data"]].map(bytes).max() ?? 0
        guard data + bytes(message["notification"]) <= limit,
            message["apns"]?["payload"]?.utf8.count ?? 0 <= longest
        else {
            let kilobytes = limit % 1_024 == 0 ? "\(limit / 1_024)K (\(limit) bytes)" : "\(limit) bytes"
            throw GoogleError.fcm(
                .invalidArgument, "Message is too large. The maximum is \(kilobytes).", field: "message")
        }
    }

    private static func bytes(_ fields: JSONValue?) -> Int {
        (fields?.members ?? []).reduce(0) { $0 + $1.name.utf8.count + ($1.value.string?.utf8.count ?? 0) }
    }
}
