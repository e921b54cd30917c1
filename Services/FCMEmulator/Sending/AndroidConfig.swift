import JSON

/// A message's Android part, from either of FCM's two forms: `android` or `android_v2`.
struct AndroidConfig: Hashable, Sendable {
    /// The name of its field in the message.
    let field: String
    let data: JSONValue?
    let notification: JSONValue?
    /// The path of the notification's field, relative to the message.
    let notificationField: String
    let collapseKey: String?
    /// A duration, such as `3.5s`.
    let timeToLive: String?
    let analyticsLabel: String?
    /// `HIGH` or `NORMAL`; `nil` if the message has none.
    let priority: String?

    /// - Returns: `nil` for a message without an Android part.
    init?(of message: JSONValue) {
        let config: JSONValue
        if let android = message["android"] {
            config = android
            field = "android"
            notification = android["notification"]
            notificationField = "android.notification"
            priority = android["priority"]?.string
        } else if let android = message["android_v2"] {
            config = android
            field = "android_v2"
            let shown = android["remote_notification"]
            notification = shown?["notification"]
            notificationField = "android_v2.remote_notification.notification"
            // A message that shows something is urgent; a background sync is not.
            priority = shown == nil ? "NORMAL" : "HIGH"
        } else {
            return nil
        }
        data = config["data"]
        collapseKey = config["collapse_key"]?.string
        timeToLive = config["ttl"]?.string
        analyticsLabel = config["fcm_options"]?["analytics_label"]?.string
    }
}
