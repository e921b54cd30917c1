import JSON

/// Translates a legacy request's fields to the HTTP v1 API (Firebase's migration guide; fields that it omits are mapped by name).
struct LegacyTranslation {
    let request: JSONValue

    /// The notification's fields that exist only for Android: the legacy name and the HTTP v1 name.
    private static let androidFields = [
        ("sound", "sound"), ("icon", "icon"), ("tag", "tag"), ("color", "color"), ("click_action", "click_action"),
        ("android_channel_id", "channel_id"), ("title_loc_key", "title_loc_key"), ("body_loc_key", "body_loc_key"),
    ]

    /// The members of the message.
    ///
    /// - Throws: ``LegacyRefusal``.
    var message: [JSONValue.Member] {
        get throws {
            var members: [JSONValue.Member] = []
            if let data = try object("data") {
                members.append(.init("data", .object(data.map { .init($0.name, .string($0.value.legacyText)) })))
            }
            let notification = try object("notification")
            if let notification {
                let common = notification.filter { ["title", "body", "image"].contains($0.name) }
                members.append(.init("notification", .object(common.map { .init($0.name, .string($0.value.legacyText)) })))
            }
            let android = try android(notification: notification ?? [])
            if !android.isEmpty { members.append(.init("android", .object(android))) }
            if let apns { members.append(.init("apns", apns)) }
            return members
        }
    }

    private func android(notification: [JSONValue.Member]) throws -> [JSONValue.Member] {
        var members: [JSONValue.Member] = []
        switch request["priority"] {
        case .string("high"), .number("10"): members.append(.init("priority", "HIGH"))
        case .string("normal"), .number("5"): members.append(.init("priority", "NORMAL"))
        case nil: break
        default: throw LegacyRefusal("Field \"priority\" must be \"normal\" or \"high\"")
        }
        if let time = request["time_to_live"] {
            guard let seconds = time.number ?? time.string, Int64(seconds) != nil else {
                throw LegacyRefusal("Field \"time_to_live\" must be a number")
            }
            members.append(.init("ttl", .string(seconds + "s")))
        }
        for name in ["collapse_key", "restricted_package_name"] {
            if let text = request[name]?.string { members.append(.init(name, .string(text))) }
        }
        let own = Self.androidFields.compactMap { old, new in
            notification.last { $0.name == old }.map { JSONValue.Member(new, .string($0.value.legacyText)) }
        }
        if !own.isEmpty { members.append(.init("notification", .object(own))) }
        return members
    }

    private var apns: JSONValue? {
        var aps: [JSONValue.Member] = []
        if request["content_available"] == true { aps.append(.init("content-available", .integer(1))) }
        if request["mutable_content"] == true { aps.append(.init("mutable-content", .integer(1))) }
        guard !aps.isEmpty else { return nil }
        let priority: JSONValue = request["priority"] == "high" && request["notification"] != nil ? "10" : "5"
        return ["headers": ["apns-priority": priority], "payload": ["aps": .object(aps)]]
    }

    private func object(_ name: String) throws -> [JSONValue.Member]? {
        guard let value = request[name], value != .null else { return nil }
        guard let members = value.members else { throw LegacyRefusal("Field \"\(name)\" must be a JSON object") }
        return members
    }
}

extension JSONValue {
    /// The text of a value. The legacy API converted values that were no text.
    fileprivate var legacyText: String { string ?? text }
}
