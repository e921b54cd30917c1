/// The platform's pop-ups.
public protocol NotificationDisplay: Sendable {
    /// Whether the app is in the foreground.
    var isAppInForeground: Bool { get }

    /// Shows a pop-up. Another one with the same tag replaces it.
    ///
    /// - Parameter data: What a tap passes to the app, and ``delivered()`` with the pop-up.
    func show(_ notification: PushMessage.Notification, tag: String, data: [String: String]) async

    /// Removes the pop-up with a tag, if the system still shows it.
    func remove(tag: String) async

    /// The pop-ups that the system shows now, each with its data. The app makes a card of the pop-up of a downtime that came while it did
    /// not run.
    ///
    /// iOS has the data of each delivered notification. Android has only the texts: the app's messaging service, which sees each message as
    /// it arrives, keeps the data.
    func delivered() async -> [PushMessage]
}
