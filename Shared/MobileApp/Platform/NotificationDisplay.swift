/// The platform's pop-ups.
public protocol NotificationDisplay: Sendable {
    /// Whether the app is in the foreground.
    var isAppInForeground: Bool { get }

    /// Shows a pop-up. Another one with the same tag replaces it.
    ///
    /// - Parameter msiKey: The message that a tap opens; `nil` for none.
    func show(_ notification: PushMessage.Notification, tag: String, msiKey: String?) async

    /// Takes a pop-up away, if it is still shown.
    func withdraw(tag: String) async
}
