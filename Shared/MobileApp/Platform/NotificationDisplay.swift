/// The platform's pop-ups.
public protocol NotificationDisplay: Sendable {
    /// Whether the app is in the foreground.
    var isAppInForeground: Bool { get }

    /// Shows a pop-up. Another one with the same tag replaces it.
    ///
    /// - Parameter data: What a tap passes to the app, and on iOS ``delivered()`` with the pop-up.
    func show(_ notification: PushMessage.Notification, tag: String, data: [String: String]) async

    /// Removes the pop-up with a tag, if the system still shows it.
    func remove(tag: String) async

    /// The pop-ups that the system shows now. The app makes a card of that of a downtime which came while it did not run, and takes old
    /// ones away.
    ///
    /// iOS has the data of each notification. Android has only its texts and its tag, and the data is empty: texts alone make no card. There the
    /// app gets the data with the tap (``Broadcasts/opened(_:)``), since its messaging service is not called for a notification while the app is in
    /// the background.
    func delivered() async -> [PushMessage]
}
