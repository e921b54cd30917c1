import JSON

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

    /// The wording for `badge` was recorded from FCM. That for the other keys is ours.
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
