/// The platform's pop-ups.
public protocol NotificationDisplay: Sendable {
    /// Whether the app is in the foreground.
    var isAppInForeground: Bool { get }

    /// Shows a pop-up. Another one with the same tag replaces it.
    func show(_ notification: PushMessage.Notification, tag: String) async
}
