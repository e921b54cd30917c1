/// The form of a message of FCM's v1 API: its fields by their snake_case names, with their types.
struct FCMForm: Sendable {
    let fields: [String: Field]
    /// Both spellings of each name, to the snake_case one.
    private let names: [String: String]

    init(_ fields: [String: Field]) {
        self.fields = fields
        var names: [String: String] = [:]
        for name in fields.keys {
            names[name] = name
            names[Self.camelCase(name)] = name
        }
        self.names = names
    }

    /// The snake_case name of a field in either spelling; `nil` for an unknown one.
    func name(of sent: String) -> String? { names[sent] }

    private static func camelCase(_ name: String) -> String {
        let words = name.split(separator: "_")
        return words.prefix(1).joined() + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    /// The type of a field.
    indirect enum Field: Sendable {
        case string
        case boolean
        case int32
        case float
        /// One of these, in either case.
        case choice([String])
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

/// The fields of FCM's v1 API without the recipient (discovery document, revision 20261023).
///
/// The emulator has its own list of them (`Services/FCMEmulator/Sending/SendForm.swift`). The two are separate on purpose: a
/// mistake in one shows when a test sends the field to the emulator.
extension FCMForm {
    static let message = FCMForm([
        "data": .stringMap,
        "notification": .message(FCMForm(["title": .string, "body": .string, "image": .string])),
        "android": .message(android),
        "android_v2": .message(androidV2),
        "webpush": .message(
            FCMForm([
                "headers": .stringMap, "data": .stringMap, "notification": .structure,
                "fcm_options": .message(FCMForm(["link": .string, "analytics_label": .string])),
            ])),
        "apns": .message(
            FCMForm([
                "headers": .stringMap, "payload": .structure, "live_activity_token": .string,
                "fcm_options": .message(FCMForm(["analytics_label": .string, "image": .string])),
            ])),
        "fcm_options": .message(FCMForm(["analytics_label": .string])),
    ])

    private static let android = FCMForm(
        androidConfig.merging([
            "priority": .choice(["NORMAL", "HIGH"]),
            "notification": .message(
                FCMForm(
                    androidNotification.merging([
                        "bypass_proxy_notification": .boolean,
                        "proxy": .choice(["PROXY_UNSPECIFIED", "ALLOW", "DENY", "IF_PRIORITY_LOWERED"]),
                    ]))),
        ]))

    private static let androidV2 = FCMForm(
        androidConfig.merging([
            "background_sync": .message(FCMForm([:])),
            "remote_notification": .message(
                FCMForm([
                    "mutable_content": .boolean, "use_as_v1_data_message": .boolean,
                    "notification": .message(FCMForm(androidNotification.merging(["id": .int32]))),
                ])),
        ]))

    private static let androidConfig: [String: Field] = [
        "collapse_key": .string, "ttl": .duration, "restricted_package_name": .string, "data": .stringMap,
        "fcm_options": .message(FCMForm(["analytics_label": .string])), "direct_boot_ok": .boolean,
        "bandwidth_constrained_ok": .boolean, "restricted_satellite_ok": .boolean,
    ]

    private static let androidNotification: [String: Field] = [
        "title": .string, "body": .string, "icon": .string, "color": .string, "sound": .string, "tag": .string, "image": .string,
        "click_action": .string, "body_loc_key": .string, "body_loc_args": .list(.string), "title_loc_key": .string,
        "title_loc_args": .list(.string), "channel_id": .string, "ticker": .string, "sticky": .boolean, "event_time": .timestamp,
        "local_only": .boolean, "default_sound": .boolean, "default_vibrate_timings": .boolean,
        "default_light_settings": .boolean, "vibrate_timings": .list(.duration), "notification_count": .int32,
        "notification_priority": .choice([
            "PRIORITY_UNSPECIFIED", "PRIORITY_MIN", "PRIORITY_LOW", "PRIORITY_DEFAULT", "PRIORITY_HIGH", "PRIORITY_MAX",
        ]),
        "visibility": .choice(["VISIBILITY_UNSPECIFIED", "PRIVATE", "PUBLIC", "SECRET"]),
        "light_settings": .message(
            FCMForm([
                "color": .message(FCMForm(["red": .float, "green": .float, "blue": .float, "alpha": .float])),
                "light_on_duration": .duration, "light_off_duration": .duration,
            ])),
    ]
}

extension [String: FCMForm.Field] {
    fileprivate func merging(_ own: Self) -> Self { merging(own) { _, own in own } }
}
