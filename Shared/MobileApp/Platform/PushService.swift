/// The platform's SDK of Firebase Cloud Messaging.
///
/// No Firebase credential is needed on a phone: the SDK knows its own registration. Each function ends when the task is cancelled.
public protocol PushService: Sendable {
    /// Asks the person whether the app may show pop-ups; on iOS only.
    ///
    /// - Returns: Whether they agree. Data messages arrive in either case.
    func requestPermission() async throws -> Bool

    /// The phone's registration token, which names it at FCM. FCM may replace it at any time, and the topics with it: the app joins
    /// them again at its next look at the hub (``MobileApp/refresh()``).
    func registrationToken() async throws -> String

    /// Subscribes the phone to a topic. Idempotent.
    func subscribe(to topic: String) async throws

    /// Unsubscribes the phone from a topic. Idempotent.
    func unsubscribe(from topic: String) async throws

    /// The messages that reach the app, from now on. A message may come twice.
    func messages() -> AsyncStream<PushMessage>
}

/// A message of FCM, as the platform's SDK passes it to the app.
public struct PushMessage: Hashable, Sendable {
    /// What the pop-up shows.
    public struct Notification: Hashable, Sendable {
        public let title: String
        public let body: String
        /// A later pop-up with the same tag replaces this one: Android's tag, or iOS's identifier of the notification.
        public let tag: String?

        public init(title: String, body: String, tag: String? = nil) {
            self.title = title
            self.body = body
            self.tag = tag
        }
    }

    /// `nil` for a data message.
    public let notification: Notification?
    /// A notification has the `msi_key`, or the fields of a broadcast in one language; a data message has the seed's seven fields, or those
    /// of a broadcast.
    public let data: [String: String]

    public init(notification: Notification? = nil, data: [String: String]) {
        self.notification = notification
        self.data = data
    }
}
