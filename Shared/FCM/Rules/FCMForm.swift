/// The form of a protobuf message in JSON, such as a message of FCM's v1 API: its fields by their snake_case names, with their
/// types.
package struct FCMForm: Sendable {
    /// The message's full type name, which Google's errors quote.
    package let type: String
    package let fields: [String: Field]
    /// Both spellings of each name, to the snake_case one.
    private let names: [String: String]

    package init(_ type: String, _ fields: [String: Field]) {
        self.type = type
        self.fields = fields
        var names: [String: String] = [:]
        for name in fields.keys {
            names[name] = name
            names[Self.camelCase(name)] = name
        }
        self.names = names
    }

    /// The snake_case name of a field in either spelling; `nil` for an unknown one.
    package func name(of sent: String) -> String? { names[sent] }

    private static func camelCase(_ name: String) -> String {
        let words = name.split(separator: "_")
        return words.prefix(1).joined() + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    /// The type of a field.
    package indirect enum Field: Sendable {
        case string
        case boolean
        case int32
        case float
        /// One of the values, in either case. The first one has the number 0.
        case enumeration(type: String, values: [String])
        /// Seconds, such as `3.5s`.
        case duration
        /// RFC 3339.
        case timestamp
        /// An object whose every value is a string.
        case stringMap
        /// An object of any form.
        case structure
        case message(FCMForm)
        case list(Field)
    }
}

/// The fields of FCM's v1 API (discovery document, revision 20261023).
extension FCMForm {
    /// A message without its name and its recipient.
    package static let message = FCMForm(
        fcm("Message"),
        [
            "data": .stringMap,
            "notification": .message(FCMForm(fcm("Notification"), ["title": .string, "body": .string, "image": .string])),
            "android": .message(android),
            "android_v2": .message(androidV2),
            "webpush": .message(
                FCMForm(
                    fcm("WebpushConfig"),
                    [
                        "headers": .stringMap, "data": .stringMap, "notification": .structure,
                        "fcm_options": .message(
                            FCMForm(fcm("WebpushFcmOptions"), ["link": .string, "analytics_label": .string])),
                    ])),
            "apns": .message(
                FCMForm(
                    fcm("ApnsConfig"),
                    [
                        "headers": .stringMap, "payload": .structure, "live_activity_token": .string,
                        "fcm_options": .message(
                            FCMForm(fcm("ApnsFcmOptions"), ["analytics_label": .string, "image": .string])),
                    ])),
            "fcm_options": .message(FCMForm(fcm("FcmOptions"), ["analytics_label": .string])),
        ])

    private static let android = FCMForm(
        fcm("AndroidConfig"),
        androidConfig.adding([
            "priority": .enumeration(type: fcm("AndroidConfig.AndroidMessagePriority"), values: ["NORMAL", "HIGH"]),
            "notification": .message(
                FCMForm(
                    fcm("AndroidNotification"),
                    androidNotification.adding([
                        "bypass_proxy_notification": .boolean,
                        "proxy": .enumeration(
                            type: fcm("AndroidNotification.Proxy"),
                            values: ["PROXY_UNSPECIFIED", "ALLOW", "DENY", "IF_PRIORITY_LOWERED"]),
                    ]))),
        ]))

    /// What will replace ``android``.
    private static let androidV2 = FCMForm(
        fcm("AndroidConfigV2"),
        androidConfig.adding([
            "background_sync": .message(FCMForm(fcm("AndroidBackgroundSyncMessage"), [:])),
            "remote_notification": .message(
                FCMForm(
                    fcm("AndroidRemoteNotification"),
                    [
                        "mutable_content": .boolean, "use_as_v1_data_message": .boolean,
                        "notification": .message(
                            FCMForm(fcm("AndroidNotificationV2"), androidNotification.adding(["id": .int32]))),
                    ])),
        ]))

    private static let androidConfig: [String: Field] = [
        "collapse_key": .string, "ttl": .duration, "restricted_package_name": .string, "data": .stringMap,
        "fcm_options": .message(FCMForm(fcm("AndroidFcmOptions"), ["analytics_label": .string])), "direct_boot_ok": .boolean,
        "bandwidth_constrained_ok": .boolean, "restricted_satellite_ok": .boolean,
    ]

    private static let androidNotification: [String: Field] = [
        "title": .string, "body": .string, "icon": .string, "color": .string, "sound": .string, "tag": .string, "image": .string,
        "click_action": .string, "body_loc_key": .string, "body_loc_args": .list(.string), "title_loc_key": .string,
        "title_loc_args": .list(.string), "channel_id": .string, "ticker": .string, "sticky": .boolean, "event_time": .timestamp,
        "local_only": .boolean, "default_sound": .boolean, "default_vibrate_timings": .boolean,
        "default_light_settings": .boolean, "vibrate_timings": .list(.duration), "notification_count": .int32,
        "notification_priority": .enumeration(
            type: fcm("AndroidNotification.NotificationPriority"),
            values: ["PRIORITY_UNSPECIFIED", "PRIORITY_MIN", "PRIORITY_LOW", "PRIORITY_DEFAULT", "PRIORITY_HIGH", "PRIORITY_MAX"]),
        "visibility": .enumeration(
            type: fcm("AndroidNotification.Visibility"), values: ["VISIBILITY_UNSPECIFIED", "PRIVATE", "PUBLIC", "SECRET"]),
        "light_settings": .message(
            FCMForm(
                fcm("LightSettings"),
                [
                    "color": .message(
                        FCMForm("google.type.Color", ["red": .float, "green": .float, "blue": .float, "alpha": .float])),
                    "light_on_duration": .duration, "light_off_duration": .duration,
                ])),
    ]

    /// The full name of one of FCM's types.
    package static func fcm(_ name: String) -> String { "google.firebase.fcm.v1.\(name)" }
}

extension [String: FCMForm.Field] {
    fileprivate func adding(_ own: Self) -> Self { merging(own) { _, own in own } }
}
