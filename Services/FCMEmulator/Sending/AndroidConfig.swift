/// What a message says of Android, whichever of FCM's two forms it has: `android` or `android_v2`.
struct AndroidConfig: Hashable, Sendable {
    /// The name of the field that it was sent in.
    let field: String
    let data: JSONValue?
    let notification: JSONValue?
    /// The same field's name, below the message.
    let notificationField: String
    let collapseKey: String?
    /// A duration, such as `3.5s`.
    let timeToLive: String?
    let analyticsLabel: String?
    /// `HIGH` or `NORMAL`; `nil` where the message does not say.
    let priority: String?

    /// - Returns: `nil` for a message that says nothing of Android.
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
            // What is for the user goes out at once; a background sync may wait.
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
