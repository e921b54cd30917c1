import MobileApp
import Synchronization

/// FCM's SDK and the pop-ups of a phone, in memory.
final class TestPush: PushService, NotificationDisplay {
    struct Unreachable: Error {}

    private struct State {
        var topics: Set<String> = []
        var log: [String] = []
        var failing = 0
        var refused: Set<String> = []
        var isStalled = false
        var registrations = 1
        var isInForeground = true
        var shown: [PushMessage.Notification] = []
        /// The tags of removed pop-ups.
        var removed: [String] = []
        var delivered: [PushMessage] = []
        var streams: [Int: AsyncStream<PushMessage>.Continuation] = [:]
        var lastStream = 0
    }

    private let kind: Platform.Kind
    private let state = Mutex(State())

    init(_ kind: Platform.Kind) {
        self.kind = kind
    }

    /// Those of subjects.
    var topics: Set<String> { state.withLock { $0.topics.filter { !Self.isOfBroadcasts($0) } } }
    /// Those by which broadcasts come.
    var broadcastTopics: Set<String> { state.withLock { $0.topics.filter(Self.isOfBroadcasts) } }
    /// What was asked of FCM about subjects, in order.
    var log: [String] { state.withLock { $0.log.filter { !Self.isOfBroadcasts(String($0.dropFirst())) } } }
    /// Every topic.
    var allTopics: Set<String> { state.withLock { $0.topics } }

    private static func isOfBroadcasts(_ topic: String) -> Bool {
        topic == "general" || (topic.count == 24 && !topic.contains("-"))
    }
    var shown: [PushMessage.Notification] { state.withLock { $0.shown } }
    /// The tags of the pop-ups that the app has taken away.
    var removed: [String] { state.withLock { $0.removed } }
    var isListening: Bool { state.withLock { !$0.streams.isEmpty } }

    /// The number of further changes after which FCM cannot be reached; `nil` for no limit.
    func fail(after changes: Int?) { state.withLock { $0.failing = changes.map { $0 + 1 } ?? 0 } }

    /// FCM refuses changes of these topics.
    func refuse(_ topics: Set<String>) { state.withLock { $0.refused = topics } }

    /// FCM does not answer changes.
    func setStalled(_ isStalled: Bool) { state.withLock { $0.isStalled = isStalled } }

    /// FCM loses a subscription.
    func forget(_ topic: String) { state.withLock { _ = $0.topics.remove(topic) } }

    /// FCM replaces the phone's registration: its topics are gone.
    func replaceRegistration() {
        state.withLock {
            $0.topics = []; $0.registrations += 1
        }
    }

    func setForeground(_ isInForeground: Bool) { state.withLock { $0.isInForeground = isInForeground } }

    func receive(_ message: PushMessage) {
        for stream in state.withLock({ Array($0.streams.values) }) { stream.yield(message) }
    }

    func requestPermission() async throws -> Bool {
        state.withLock { $0.log.append("permission") }
        return true
    }

    func registrationToken() async throws -> String { "token \(state.withLock(\.registrations))" }

    func subscribe(to topic: String) async throws {
        try await change(topic, "+") { $0.insert(topic) }
    }

    func unsubscribe(from topic: String) async throws {
        try await change(topic, "-") { $0.remove(topic) }
    }

    private func change(_ topic: String, _ sign: String, _ body: (inout Set<String>) -> Void) async throws {
        if state.withLock(\.isStalled) { try await Task.sleep(for: .seconds(3_600)) }
        try state.withLock { state in
            if state.failing == 1 { throw Unreachable() }
            if state.refused.contains(topic) { throw Unreachable() }
            if state.failing > 1 { state.failing -= 1 }
            state.log.append(sign + topic)
            body(&state.topics)
        }
    }

    func messages() -> AsyncStream<PushMessage> {
        let (stream, continuation) = AsyncStream<PushMessage>.makeStream()
        let id = state.withLock { state in
            state.lastStream += 1
            state.streams[state.lastStream] = continuation
            return state.lastStream
        }
        continuation.onTermination = { [weak self] _ in self?.state.withLock { _ = $0.streams.removeValue(forKey: id) } }
        return stream
    }

    var isAppInForeground: Bool { state.withLock { $0.isInForeground } }

    func show(_ notification: PushMessage.Notification, tag: String, data: [String: String]) async {
        state.withLock { $0.shown.append(notification) }
    }

    func remove(tag: String) async {
        state.withLock { state in
            state.removed.append(tag)
            state.delivered.removeAll { $0.notification?.tag == tag }
        }
    }

    /// The system shows these pop-ups, which came while the app did not run.
    func deliver(_ messages: [PushMessage]) { state.withLock { $0.delivered = messages } }

    /// The titles of the pop-ups that the system shows.
    var popups: [String] { state.withLock { $0.delivered.compactMap(\.notification?.title) } }

    /// As the systems do: Android tells an app only what its pop-ups say.
    func delivered() async -> [PushMessage] {
        let shown = state.withLock(\.delivered)
        return kind == .ios ? shown : shown.map { PushMessage(notification: $0.notification, data: [:]) }
    }

    /// The person taps a pop-up: Android gives the app its data alone.
    func tap(_ title: String) throws -> PushMessage {
        try state.withLock { state in
            guard let index = state.delivered.firstIndex(where: { $0.notification?.title == title }) else { throw NoPopup() }
            let popup = state.delivered.remove(at: index)
            return kind == .ios ? popup : PushMessage(data: popup.data)
        }
    }

    struct NoPopup: Error {}
}
