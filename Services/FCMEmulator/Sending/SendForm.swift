extension MessageForm {
    /// The body of `messages:send` (FCM's discovery document, rev. 20241112, and `fid`, which came in 2026).
    static let sendRequest = MessageForm(
        "google.firebase.fcm.v1.SendMessageRequest", ["validate_only": .boolean, "message": .message(.message)])

    private static let message = MessageForm(
        fcm("Message"),
        [
            "name": .string,
            "data": .stringMap,
            "notification": .message(
                MessageForm(fcm("Notification"), ["title": .string, "body": .string, "image": .string])),
            "android": .message(android),
            "webpush": .message(webpush),
            "apns": .message(apns),
            "fcm_options": .message(MessageForm(fcm("FcmOptions"), ["analytics_label": .string])),
            "token": .string,
            "topic": .string,
            "condition": .string,
            "fid": .string,
        ])

    private static let android = MessageForm(
        fcm("AndroidConfig"),
        [
            "collapse_key": .string,
            "priority": .enumeration(type: fcm("AndroidConfig.AndroidMessagePriority"), values: ["NORMAL", "HIGH"]),
            "ttl": .duration,
            "restricted_package_name": .string,
            "data": .stringMap,
            "notification": .message(androidNotification),
            "fcm_options": .message(MessageForm(fcm("AndroidFcmOptions"), ["analytics_label": .string])),
            "direct_boot_ok": .boolean,
            "bandwidth_constrained_ok": .boolean,
            "restricted_satellite_ok": .boolean,
        ])

    private static let androidNotification = MessageForm(
        fcm("AndroidNotification"),
        [
            "title": .string, "body": .string, "icon": .string, "color": .string, "sound": .string, "tag": .string,
            "click_action": .string, "body_loc_key": .string, "body_loc_args": .list(.string), "title_loc_key": .string,
            "title_loc_args": .list(.string), "channel_id": .string, "ticker": .string, "sticky": .boolean,
            "event_time": .timestamp, "local_only": .boolean,
            "notification_priority": .enumeration(
                type: fcm("AndroidNotification.NotificationPriority"),
                values: [
                    "PRIORITY_UNSPECIFIED", "PRIORITY_MIN", "PRIORITY_LOW", "PRIORITY_DEFAULT", "PRIORITY_HIGH", "PRIORITY_MAX",
                ]),
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
                            MessageForm(
                                "google.type.Color", ["red": .float, "green": .float, "blue": .float, "alpha": .float])),
                        "light_on_duration": .duration, "light_off_duration": .duration,
                    ])),
            "image": .string, "bypass_proxy_notification": .boolean,
            "proxy": .enumeration(
                type: fcm("AndroidNotification.Proxy"),
                values: ["PROXY_UNSPECIFIED", "ALLOW", "DENY", "IF_PRIORITY_LOWERED"]),
        ])

    private static let webpush = MessageForm(
        fcm("WebpushConfig"),
        [
            "headers": .stringMap, "data": .stringMap, "notification": .structure,
            "fcm_options": .message(
                MessageForm(fcm("WebpushFcmOptions"), ["link": .string, "analytics_label": .string])),
        ])

    private static let apns = MessageForm(
        fcm("ApnsConfig"),
        [
            "headers": .stringMap, "payload": .structure, "live_activity_token": .string,
            "fcm_options": .message(
                MessageForm(fcm("ApnsFcmOptions"), ["analytics_label": .string, "image": .string])),
        ])

    private static func fcm(_ name: String) -> String { "google.firebase.fcm.v1.\(name)" }
}
