/// What the phone provides to the app: a protocol for each part, so that the modules run on any platform, and in tests.
public struct Platform: Sendable {
    /// The operating system. The modules differ in a few places (seed, "Mobile App Use Cases").
    public enum Kind: String, Sendable, CaseIterable {
        /// Shows no pop-up while the app is in the foreground, so that the app shows it itself.
        case android
        /// Asks the person for permission before it shows pop-ups, and delivers data messages in the background.
        case ios
    }

    public let kind: Kind
    public let push: any PushService
    public let notifications: any NotificationDisplay
    public let hub: any HubConnection
    /// Reads the active broadcasts from another server, which has the file of `MSI_BROADCAST_FILE` or a mirror of
    /// `GET /broadcast/active` for the time while the hub is away; `nil` without one. It ends when the task is cancelled, and throws if there is no answer.
    public let readBroadcastCopy: (@Sendable () async throws -> HubAnswer)?
    public let clock: any DeviceClock
    /// The phone's language, as a tag such as `en` or `pt-BR`.
    public let language: @Sendable () -> String
    /// Where the device's key is; `nil` for an app in which nobody signs in.
    public let secretStore: (any SecretStore)?
    /// What the list of the person's devices calls this one, such as `Pixel 9`, and the app's version; `nil` for nothing.
    public let deviceName: String?
    public let appVersion: String?

    public init(
        kind: Kind, push: any PushService, notifications: any NotificationDisplay, hub: any HubConnection, clock: any DeviceClock,
        readBroadcastCopy: (@Sendable () async throws -> HubAnswer)? = nil,
        language: @escaping @Sendable () -> String = { "en" },
        secretStore: (any SecretStore)? = nil, deviceName: String? = nil, appVersion: String? = nil
    ) {
        self.kind = kind
        self.push = push
        self.notifications = notifications
        self.hub = TimedHub(hub: hub, clock: clock)
        self.clock = clock
        self.readBroadcastCopy = readBroadcastCopy
        self.language = language
        self.secretStore = secretStore
        self.deviceName = deviceName
        self.appVersion = appVersion
    }
}

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
