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
    /// Reads the active broadcasts from another server, which has a copy of the hub's for the time while the hub is away; `nil` without
    /// one. It ends when the task is cancelled, and throws if there is no answer.
    public let readBroadcastCopy: (@Sendable () async throws -> HubAnswer)?
    public let clock: any DeviceClock
    /// The phone's language, as a tag such as `en` or `pt-BR`.
    public let language: @Sendable () -> String

    public init(
        kind: Kind, push: any PushService, notifications: any NotificationDisplay, hub: any HubConnection, clock: any DeviceClock,
        readBroadcastCopy: (@Sendable () async throws -> HubAnswer)? = nil,
        language: @escaping @Sendable () -> String = { "en" }
    ) {
        self.kind = kind
        self.push = push
        self.notifications = notifications
        self.hub = TimedHub(hub: hub, clock: clock)
        self.clock = clock
        self.readBroadcastCopy = readBroadcastCopy
        self.language = language
    }
}
