package import Base
package import Schemas

/// FCM's rules for a message and its recipients. A push that breaks one is refused on arrival, so that its author can correct it.
package enum FCMRules {
    /// Checks a push.
    ///
    /// - Parameters:
    ///   - message: The `message` of FCM's v1 API without its recipient, with names in either spelling.
    ///   - limit: The limit for messages to topics and conditions.
    /// - Returns: The message with snake_case names.
    /// - Throws: ``SchemaViolation`` for the first broken rule, with the field's path.
    package static func checked(
        _ message: JSONValue, for recipients: [PushRecipient], limit: PayloadLimit = .topic
    ) throws(SchemaViolation) -> JSONValue {
        for recipient in recipients { try check(recipient) }
        for field in ["topic", "condition", "token", "fid", "name"] where message[field] != nil {
            throw SchemaViolation(
                field: "message.\(field)",
                problem: field == "name" ? "FCM gives the name" : "the recipient stands beside the message, not in it")
        }
        let message = try FCMForm.message.read(message, at: "message")
        guard message["android"] == nil || message["android_v2"] == nil else {
            throw SchemaViolation(field: "message.android_v2", problem: "expected android or android_v2, not both")
        }
        try checkData(message["data"], at: "message.data")
        try checkLabel(in: message, at: "message")
        for name in ["android", "android_v2"] {
            if let android = message[name] { try checkAndroid(android, at: "message.\(name)") }
        }
        if let apns = message["apns"] { try checkAPNs(apns, notification: message["notification"]) }
        if let webpush = message["webpush"] { try checkWebPush(webpush) }
        try checkSize(of: message, for: recipients, limit: limit)
        return message
    }

    /// A message with snake_case names, even if it breaks a rule.
    ///
    /// - Returns: The message unchanged if it does not have FCM's form.
    package static func withSnakeCaseNames(_ message: JSONValue) -> JSONValue {
        (try? FCMForm.message.read(message, at: "message")) ?? message
    }

    /// The urgency of a message: its Android priority, or FCM's default, which is high if it shows a notification.
    ///
    /// - Parameter message: As ``checked(_:for:limit:)`` returns it.
    package static func urgency(of message: JSONValue) -> Urgency {
        if let priority = message["android"]?["priority"]?.string { return priority == "HIGH" ? .high : .normal }
        let isShown =
            message["notification"] != nil || message["android"]?["notification"] != nil
            || message["android_v2"]?["remote_notification"] != nil
        return isShown ? .high : .normal
    }

    private static func check(_ recipient: PushRecipient) throws(SchemaViolation) {
        switch recipient {
        case .topic(let name):
            guard TopicCondition.isTopicName(name) else {
                throw SchemaViolation(
                    field: "topic", problem: "expected 1 to 900 ASCII letters, digits and -_.~%, without /topics/")
            }
        case .condition(let condition):
            if let problem = TopicCondition.problem(with: condition) {
                throw SchemaViolation(field: "condition", problem: problem)
            }
        case .token(let token):
            guard token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw SchemaViolation(field: "tokens", problem: "expected tokens of ASCII characters without a space")
            }
        case .account, .fcmDevice, .webpushDevice:
            throw SchemaViolation(field: recipient.field.rawValue, problem: "expected a topic, a condition or tokens for FCM")
        }
    }

    /// Keys that FCM reserves (discovery document, `Message.data`; the message-type page adds all of `gcm.`).
    private static func checkData(_ data: JSONValue?, at path: String) throws(SchemaViolation) {
        for key in (data?.members ?? []).map(\.name).sorted() {
            guard key != "from", key != "message_type", !key.hasPrefix("google."), !key.hasPrefix("gcm.") else {
                throw SchemaViolation(field: "\(path).\(key.prefix(100))", problem: "FCM keeps this key for itself")
            }
        }
    }

    private static func checkLabel(in object: JSONValue, at path: String) throws(SchemaViolation) {
        guard let label = object["fcm_options"]?["analytics_label"]?.string, !label.isEmpty else { return }
        guard label.wholeMatch(of: /[a-zA-Z0-9\-_.~%]{1,50}/) != nil else {
            throw SchemaViolation(
                field: "\(path).fcm_options.analytics_label",
                problem: "expected at most 50 ASCII letters, digits and -_.~%")
        }
    }

    private static func checkAndroid(_ android: JSONValue, at path: String) throws(SchemaViolation) {
        try checkData(android["data"], at: path + ".data")
        try checkLabel(in: android, at: path)
        if let ttl = android["ttl"]?.string.flatMap(FCMDuration.init) {
            let isTooLong = ttl.whole > maxTimeToLive || (ttl.whole == maxTimeToLive && ttl.hasFraction)
            guard !ttl.isNegative, !isTooLong else {
                throw SchemaViolation(field: path + ".ttl", problem: "expected 0 to \(maxTimeToLive) seconds")
            }
        }
        let notificationPath = path.hasSuffix("_v2") ? ".remote_notification.notification" : ".notification"
        let notification = android["notification"] ?? android["remote_notification"]?["notification"]
        if let color = notification?["color"]?.string, color.wholeMatch(of: /#[0-9a-fA-F]{6}/) == nil {
            throw SchemaViolation(field: path + notificationPath + ".color", problem: "expected a colour such as #20A0FF")
        }
    }

    private static func checkWebPush(_ webpush: JSONValue) throws(SchemaViolation) {
        try checkData(webpush["data"], at: "message.webpush.data")
        try checkLabel(in: webpush, at: "message.webpush")
        if let link = webpush["fcm_options"]?["link"]?.string, !link.hasPrefix("https://") {
            throw SchemaViolation(field: "message.webpush.fcm_options.link", problem: "expected an https:// URL")
        }
        if let ttl = webpush.header("ttl"), ttl.value.wholeMatch(of: /[0-9]{1,18}/) == nil {
            throw SchemaViolation(
                field: "message.webpush.headers.\(ttl.name)", problem: "expected a number of seconds, 0 or more, as a string")
        }
        if let urgency = webpush.header("urgency"), !["very-low", "low", "normal", "high"].contains(urgency.value) {
            throw SchemaViolation(
                field: "message.webpush.headers.\(urgency.name)", problem: "expected very-low, low, normal or high")
        }
    }
}

extension JSONValue {
    /// The header of APNs or web push as spelt in the message. Names are case-insensitive.
    ///
    /// - Parameter name: In lower case.
    func header(_ name: String) -> (name: String, value: String)? {
        let header = self["headers"]?.members?.first { $0.name.lowercased() == name }
        return header.flatMap { header in header.value.string.map { (header.name, $0) } }
    }
}

extension FCMRules {
    /// The rules of FCM and APNs for `apns`.
    ///
    /// - Parameter notification: The message's notification, which iOS shows as well.
    static func checkAPNs(_ apns: JSONValue, notification: JSONValue?) throws(SchemaViolation) {
        let priority = apns.header("apns-priority")
        try check(priority, "1, 5 or 10") { ["1", "5", "10"].contains($0) }
        try check(apns.header("apns-expiration"), "a Unix time in seconds, as a string") {
            $0.wholeMatch(of: /[0-9]{1,12}/) != nil
        }
        try check(apns.header("apns-collapse-id"), "at most 64 bytes") { $0.utf8.count <= 64 }
        if let label = apns["fcm_options"]?["analytics_label"]?.string, !label.isEmpty,
            label.wholeMatch(of: /[a-zA-Z0-9\-_.~%]{1,50}/) == nil
        {
            throw SchemaViolation(
                field: "message.apns.fcm_options.analytics_label", problem: "expected at most 50 ASCII letters, digits and -_.~%")
        }
        guard let payload = apns["payload"] else { return }
        guard let aps = payload["aps"], aps.members != nil else {
            throw SchemaViolation(field: "message.apns.payload.aps", problem: "missing, expected an object")
        }
        try checkTypes(of: aps)
        let isSilent =
            aps["content-available"] == 1 && aps["alert"] == nil && aps["sound"] == nil && aps["badge"] == nil
        // APNs accepts a silent message only at priority 5. FCM refuses other priorities.
        if isSilent, notification == nil, priority?.value != "5" {
            throw SchemaViolation(
                field: "message.apns.headers.\(priority?.name ?? "apns-priority")",
                problem: "expected 5: the message has content-available and nothing to show")
        }
    }

    private static func checkTypes(of aps: JSONValue) throws(SchemaViolation) {
        func require(_ name: String, _ expected: String, _ isValid: (JSONValue) -> Bool) throws(SchemaViolation) {
            guard let value = aps[name], !isValid(value) else { return }
            throw SchemaViolation(field: "message.apns.payload.aps.\(name)", problem: "expected \(expected)")
        }
        for name in ["badge", "content-available", "mutable-content"] { try require(name, "a number") { $0.number != nil } }
        for name in ["category", "thread-id", "target-content-id", "interruption-level"] {
            try require(name, "a string") { $0.string != nil }
        }
        for name in ["alert", "sound"] {
            try require(name, "a string or an object") { $0.string != nil || $0.members != nil }
        }
        for name in ["title", "subtitle", "body"] {
            if let text = aps["alert"]?[name], text.string == nil {
                throw SchemaViolation(field: "message.apns.payload.aps.alert.\(name)", problem: "expected a string")
            }
        }
    }

    private static func check(
        _ header: (name: String, value: String)?, _ expected: String, _ isValid: (String) -> Bool
    ) throws(SchemaViolation) {
        guard let header, !isValid(header.value) else { return }
        throw SchemaViolation(field: "message.apns.headers.\(header.name)", problem: "expected \(expected)")
    }
}

extension FCMRules {
    /// The maximum size of a platform's own part, in bytes.
    private static let maxPlatformBytes = 4_096

    /// Measures a message. FCM documents its formula only as "keys and values". This one counts the data and the notification's
    /// title, body and image, and each platform's own part.
    static func checkSize(
        of message: JSONValue, for recipients: [PushRecipient], limit: PayloadLimit
    ) throws(SchemaViolation) {
        let isToPhones = recipients.first?.token != nil
        let most = isToPhones ? maxPlatformBytes : limit.bytes
        // A platform's own data replaces the message's.
        let places = [message["data"], message["android"]?["data"], message["android_v2"]?["data"], message["webpush"]?["data"]]
        let bytes = places.map(textBytes).reduce(0, max) + textBytes(of: message["notification"])
        guard bytes <= most else {
            throw SchemaViolation(
                field: "message",
                problem: "data and notification have \(bytes) bytes, \(bytes - most) more than the \(most) that a message to a "
                    + "\(isToPhones ? "phone" : "topic") may have")
        }
        let platforms = [
            ("android", message["android"]), ("android_v2", message["android_v2"]), ("apns", message["apns"]),
            ("webpush", message["webpush"]),
        ]
        for (name, config) in platforms {
            let bytes = (config?.members ?? []).reduce(0) { $1.name == "data" ? $0 : $0 + $1.value.data.count }
            guard bytes <= maxPlatformBytes else {
                throw SchemaViolation(
                    field: "message.\(name)",
                    problem: "has \(bytes) bytes of JSON beside data, at most \(maxPlatformBytes) are allowed")
            }
        }
    }

    private static func textBytes(of fields: JSONValue?) -> Int {
        (fields?.members ?? []).reduce(0) { $0 + $1.name.utf8.count + ($1.value.string?.utf8.count ?? 0) }
    }
}
