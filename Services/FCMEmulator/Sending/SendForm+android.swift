/// The forms of a message's Android part: `AndroidConfig`, and `AndroidConfigV2`, which will replace it.
extension MessageForm {
    static let android = MessageForm(
        fcm("AndroidConfig"),
        config.merging([
            "priority": .enumeration(type: fcm("AndroidConfig.AndroidMessagePriority"), values: ["NORMAL", "HIGH"]),
            "notification": .message(
                MessageForm(
                    fcm("AndroidNotification"),
                    notification.merging([
                        "bypass_proxy_notification": .boolean,
                        "proxy": .enumeration(
                            type: fcm("AndroidNotification.Proxy"),
                            values: ["PROXY_UNSPECIFIED", "ALLOW", "DENY", "IF_PRIORITY_LOWERED"]),
                    ]))),
        ]))

    static let androidV2 = MessageForm(
        fcm("AndroidConfigV2"),
        config.merging([
            "background_sync": .message(MessageForm(fcm("AndroidBackgroundSyncMessage"), [:])),
            "remote_notification": .message(
                MessageForm(
                    fcm("AndroidRemoteNotification"),
                    [
                        "mutable_content": .boolean, "use_as_v1_data_message": .boolean,
                        "notification": .message(
                            MessageForm(fcm("AndroidNotificationV2"), notification.merging(["id": .int32]))),
                    ])),
        ]))

    /// The fields of both.
    private static let config: [String: FieldForm] = [
        "collapse_key": .string, "ttl": .duration, "restricted_package_name": .string, "data": .stringMap,
        "fcm_options": .message(MessageForm(fcm("AndroidFcmOptions"), ["analytics_label": .string])),
        "direct_boot_ok": .boolean, "bandwidth_constrained_ok": .boolean, "restricted_satellite_ok": .boolean,
    ]

    /// The notification fields of both.
    private static let notification: [String: FieldForm] = [
        "title": .string, "body": .string, "icon": .string, "color": .string, "sound": .string, "tag": .string,
        "click_action": .string, "body_loc_key": .string, "body_loc_args": .list(.string), "title_loc_key": .string,
        "title_loc_args": .list(.string), "channel_id": .string, "ticker": .string, "sticky": .boolean,
        "event_time": .timestamp, "local_only": .boolean,
        "notification_priority": .enumeration(
            type: fcm("AndroidNotification.NotificationPriority"),
            values: ["PRIORITY_UNSPECIFIED", "PRIORITY_MIN", "PRIORITY_LOW", "PRIORITY_DEFAULT", "PRIORITY_HIGH", "PRIORITY_MAX"]),
        "default_sound": .boolean, "default_vibrate_timings": .boolean, "default_light_settings": .boolean,
        "vibrate_timings": .list(.duration),
        "visibility": .enumeration(
            type: fcm("AndroidNotification.Visibility"),
            values: ["VISIBILITY_UNSPECIFIED", "PRIVATE", "PUBLIC", "SECRET"]),
        "notification_count": .int32,
        "light_settings": .message(
            MessageForm(
                fcm("LightSettings"),
                [
                    "color": .message(
                        MessageForm("google.type.Color", ["red": .float, "green": .float, "blue": .float, "alpha": .float])),
                    "light_on_duration": .duration, "light_off_duration": .duration,
                ])),
        "image": .string,
    ]
}

extension [String: FieldForm] {
    /// Adds fields.
    fileprivate func merging(_ own: Self) -> Self { merging(own) { _, own in own } }
}
