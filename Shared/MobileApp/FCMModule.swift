import Base

/// The phone's side of Firebase Cloud Messaging (seed module "FCM").
///
/// The seed's module had the project's API key and asked Google's REST API with it. A phone must not have such a key: which topics it
/// is subscribed to is asked of the gateway.
struct FCMModule: Sendable {
    private let platform: Platform
    /// How long FCM may take.
    private static let limit = Duration.seconds(30)

    init(platform: Platform) {
        self.platform = platform
    }

    /// Passes each message that reaches the app, until the task is cancelled (seed: `listen`).
    ///
    /// - Parameters:
    ///   - alert: For a message with a pop-up (seed: `alertCallback`).
    ///   - info: For a data message (seed: `infoCallback`).
    func listen(
        alert: @Sendable (PushMessage.Notification, _ data: [String: String]) async -> Void,
        info: @Sendable (_ data: [String: String]) async -> Void
    ) async {
        for await message in platform.push.messages() {
            if let notification = message.notification {
                await alert(notification, message.data)
            } else {
                await info(message.data)
            }
        }
    }

    /// Shows a pop-up itself, where the platform does not: on Android, while the app is in the foreground
    /// (seed: `displayLocalNotif`).
    ///
    /// - Parameters:
    ///   - tag: A later pop-up with the same tag replaces it.
    ///   - data: What a tap passes to the app.
    func displayLocalNotification(_ notification: PushMessage.Notification, tag: String, data: [String: String]) async {
        guard platform.kind == .android, platform.notifications.isAppInForeground else { return }
        await platform.notifications.show(notification, tag: tag, data: data)
    }

    /// The phone's registration at FCM.
    ///
    /// - Throws: ``TimedOut``, or the error of the push service.
    func registrationToken() async throws -> String {
        try await withinLimit { try await $0.registrationToken() }
    }

    /// The topics that FCM has the phone subscribed to (seed: `getSubscribed`).
    ///
    /// - Throws: ``HubFailure``, or the error of the push service.
    func subscribedTopics() async throws -> [String] {
        let token = try await registrationToken()
        let body: JSONValue = ["token": .string(token)]
        let answer = try await platform.hub.document(of: HubRequest(.post, "/phone/topics", body: body.data))
        guard let topics = answer["topics"]?.elements else { throw HubFailure.unreadable("/phone/topics") }
        return topics.compactMap(\.string)
    }

    /// Subscribes the phone to a topic (seed: `subscribe`).
    func subscribe(_ topicKey: String) async throws {
        try await withinLimit { try await $0.subscribe(to: topicKey) }
    }

    /// Unsubscribes the phone from a topic (seed: `unsubscribe`).
    func unsubscribe(_ topicKey: String) async throws {
        try await withinLimit { try await $0.unsubscribe(from: topicKey) }
    }

    private func withinLimit<Value: Sendable>(
        _ work: @escaping @Sendable (any PushService) async throws -> Value
    ) async throws -> Value {
        try await platform.clock.within(Self.limit) { [platform] in try await work(platform.push) }
    }
}
