import MobileApp
import TestSupport

/// A phone with the app, whose platform is in memory.
struct TestPhone: Sendable {
    let clock: TestClock
    let hub: TestHub
    let push: TestPush
    let secrets = TestSecretStore()
    let database: AppDatabase
    let platform: Platform
    let app: MobileApp

    /// - Parameters:
    ///   - subjects: The hub's cube, unless it has one.
    ///   - readBroadcastCopy: The other server that has the active broadcasts.
    init(
        _ kind: Platform.Kind = .android, clock: TestClock = TestClock(), hub: TestHub = TestHub(), path: String? = nil,
        localBroadcasts: LocalBroadcasts = .none, subjects: [TestHub.Subject]? = nil,
        readBroadcastCopy: (@Sendable () async throws -> HubAnswer)? = nil
    ) throws {
        self.clock = clock
        self.hub = hub
        push = TestPush(kind)
        hub.setPush(push)
        hub.setClock(clock)
        if let subjects { hub.set(subjects) }
        database = try AppDatabase(path: path)
        platform = Platform(
            kind: kind, push: push, notifications: push, hub: hub, clock: clock, readBroadcastCopy: readBroadcastCopy,
            secretStore: secrets, deviceName: "A test", appVersion: "1.1.0")
        app = MobileApp(platform: platform, database: database, localBroadcasts: localBroadcasts)
    }

    /// Runs the app during a body.
    ///
    /// - Parameter failed: Called after each failure of the app.
    func running(failed: @escaping @Sendable (any Error) -> Void = { _ in }, _ body: () async throws -> Void) async throws {
        let task = Task { [app] in await app.run(failed: failed) }
        defer { task.cancel() }
        try await eventually("the app listens") { push.isListening }
        try await body()
    }

    /// Waits until the phone has joined these topics and no others. FCM knows of it first, and the app a moment later.
    func joined(_ topics: Set<String>) async throws {
        try await eventually("\(topics) are joined") {
            guard push.topics == topics else { return false }
            return try await app.subscriptions.subscribedTopics() == topics
        }
    }

    /// Waits for the outcome of a look at the hub.
    func look() async throws {
        try await eventually("the app runs") {
            do {
                try await app.look()
                return true
            } catch is MobileApp.NotRunning {
                return false
            }
        }
    }

    /// A data message as FCM brings it.
    static func data(_ key: String, topic: String = "t", timestamp: Int64) -> PushMessage {
        PushMessage(data: [
            "msi_key": key, "topic_key": topic, "dist": "Information", "title": "Title \(key)", "desc": "", "message": "A text.",
            "timestamp": String(timestamp),
        ])
    }
}
