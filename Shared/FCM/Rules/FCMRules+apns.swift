import JSON

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
