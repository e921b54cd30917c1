import FoundationEssentials
import Base
import Logging
import MobileApp
import NIOHTTP1
import Synchronization

/// The operating system of the simulated phone: FCM's SDK, the pop-ups, and the connection to the hub.
final class PhonePlatform: PushService, NotificationDisplay, HubConnection {
    /// Whether the last request to the hub got an answer.
    enum Hub: String, Sendable {
        case unknown, reachable, unreachable
    }

    private struct State {
        var hub = Hub.unknown
        var streams: [Int: AsyncStream<PushMessage>.Continuation] = [:]
        var lastStream = 0
        /// The pending registration.
        var registration: Task<String, any Error>?
        /// Callers waiting for the person's answer whether the app may show pop-ups.
        var asking: [CheckedContinuation<Bool, Never>] = []
    }

    let memory: PhoneMemory
    let popups = Popups()
    let changes: Changes
    private let clock: PhoneClock
    private let fcm: FCMConnection
    private let gateway: String
    private let network: Network
    private let logger: Logger
    private let pushed: @Sendable (PushMessage) -> Void
    private let poppedUp: @Sendable (Popups.Popup) -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - pushed: Called before each data message that FCM brings is passed to the app.
    ///   - poppedUp: Called after each pop-up.
    init(
        memory: PhoneMemory, changes: Changes, fcm: FCMConnection, gateway: String, hub: Network, logger: Logger,
        pushed: @escaping @Sendable (PushMessage) -> Void, poppedUp: @escaping @Sendable (Popups.Popup) -> Void
    ) {
        self.memory = memory
        self.changes = changes
        self.fcm = fcm
        self.gateway = gateway
        self.logger = logger
        self.pushed = pushed
        self.poppedUp = poppedUp
        network = hub
        clock = PhoneClock(memory: memory)
    }

    private var control: PhoneControl { memory.system.control }
    var hub: Hub { control.offline ? .unreachable : state.withLock(\.hub) }
    var isAsking: Bool { state.withLock { !$0.asking.isEmpty } }

    // MARK: The hub

    func answer(to request: HubRequest) async throws -> HubAnswer {
        try checkNetwork()
        do {
            let answer = try await network.answer(
                HTTPMethod(rawValue: request.method.rawValue), gateway + request.path, headers: request.headers,
                body: request.body)
            set(answer.status < 500 ? .reachable : .unreachable)
            return answer
        } catch {
            if !Task.isCancelled { set(.unreachable) }
            throw error
        }
    }

    /// Reads the copy of the active broadcasts from the other server.
    func readBroadcastCopy(at url: String) async throws -> HubAnswer {
        try checkNetwork()
        return try await network.answer(.GET, url)
    }

    private func set(_ hub: Hub) {
        let hasChanged = state.withLock { state in
            defer { state.hub = hub }
            return state.hub != hub
        }
        if hasChanged { changes.tell() }
    }

    private func checkNetwork() throws {
        if control.offline { throw Network.Failure(description: "the phone is offline") }
    }

    // MARK: FCM

    func requestPermission() async throws -> Bool {
        if let permission = memory.system.permission { return permission == .granted }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { $0.asking.append(continuation) }
                changes.tell()
                if Task.isCancelled { dropQuestion() }
            }
        } onCancel: {
            dropQuestion()
        }
    }

    /// The person answers.
    func answer(_ permission: PhoneMemory.Permission) throws {
        try memory.change { $0.permission = permission }
        for waiting in takeAsking() { waiting.resume(returning: permission == .granted) }
        changes.tell()
    }

    /// The app has ended. It asks again at its next start.
    private func dropQuestion() {
        for waiting in takeAsking() { waiting.resume(returning: false) }
        changes.tell()
    }

    private func takeAsking() -> [CheckedContinuation<Bool, Never>] {
        state.withLock { state in
            defer { state.asking = [] }
            return state.asking
        }
    }

    func registrationToken() async throws -> String {
        if let token = memory.system.token { return token }
        // The app and the operating system ask at the same time; the phone has one registration.
        let (task, isFirst) = state.withLock { state in
            if let running = state.registration { return (running, false) }
            let task = Task { try await self.register() }
            state.registration = task
            return (task, true)
        }
        defer { if isFirst { state.withLock { $0.registration = nil } } }
        return try await task.value
    }

    private func register() async throws -> String {
        if let token = memory.system.token { return token }
        try checkNetwork()
        let platform = control.platform
        let token = try await fcm.register(platform)
        let kept = try memory.change { system -> String? in
            // The person may have another phone by now, which needs a registration.
            guard system.control.platform == platform else {
                system.formerTokens = (system.formerTokens ?? []) + [token]
                return nil
            }
            system.token = system.token ?? token
            return system.token
        }
        guard let kept else { throw Network.Failure(description: "the phone was replaced while it registered") }
        return kept
    }

    func subscribe(to topic: String) async throws {
        let token = try await registrationToken()
        try checkNetwork()
        try await fcm.perform(.subscribe, token, topic)
    }

    func unsubscribe(from topic: String) async throws {
        let token = try await registrationToken()
        try checkNetwork()
        try await fcm.perform(.unsubscribe, token, topic)
    }

    func messages() -> AsyncStream<PushMessage> {
        let (stream, continuation) = AsyncStream<PushMessage>.makeStream()
        let id = state.withLock { state in
            state.lastStream += 1
            state.streams[state.lastStream] = continuation
            return state.lastStream
        }
        continuation.onTermination = { [weak self] _ in _ = self?.state.withLock { $0.streams.removeValue(forKey: id) } }
        return stream
    }

    /// Keeps the phone connected to FCM until the task is cancelled. Reconnects after a failure.
    ///
    /// - Parameter replaced: Called when FCM does not know the phone's registration and the phone gets another one.
    func stayConnected(replaced: @Sendable () -> Void) async {
        while !Task.isCancelled {
            do {
                try checkNetwork()
                try await endFormerRegistrations()
                let token = try await registrationToken()
                do {
                    try await fcm.listen(token, opened: changes.tell) { receive($0) }
                } catch is FCMConnection.UnknownToken {
                    try memory.change { if $0.token == token { $0.token = nil } }
                    replaced()
                }
            } catch {
                logger.debug("no connection to FCM", metadata: ["error": "\(error)"])
            }
            // Spreads the reconnects of many phones.
            try? await Task.sleep(for: .milliseconds(500) * Double.random(in: 0.5...1.5))
        }
    }

    /// Ends the registrations of earlier phones, so that FCM keeps no messages for them.
    private func endFormerRegistrations() async throws {
        for token in memory.system.formerTokens ?? [] {
            try await fcm.unregister(token)
            try memory.change { $0.formerTokens?.removeAll { $0 == token } }
        }
    }

    /// The operating system receives a message from FCM.
    private func receive(_ event: JSONValue) {
        let data = Dictionary(
            (event["data"]?.members ?? []).compactMap { member in member.value.string.map { (member.name, $0) } }
        ) { $1 }
        let control = control
        guard let shown = event["notification"] else {
            let message = PushMessage(data: data)
            pushed(message)
            return deliver(message)
        }
        let tag = control.platform == .ios ? event["collapseKey"] : shown["tag"]
        let notification = PushMessage.Notification(
            title: shown["title"]?.string ?? "", body: shown["body"]?.string ?? "", tag: tag?.string)
        let popupTag = notification.tag ?? event["messageId"]?.string ?? ""
        // Android leaves the pop-up to an app that is on the screen.
        if control.platform == .android, control.foreground, !control.killed {
            return deliver(PushMessage(notification: notification, data: data))
        }
        popUp(notification, tag: popupTag, data: data)
    }

    /// Passes a message to the app. If it does not run, the message is lost.
    private func deliver(_ message: PushMessage) {
        for stream in state.withLock({ Array($0.streams.values) }) { stream.yield(message) }
    }

    // MARK: Pop-ups

    var isAppInForeground: Bool { control.foreground && !control.killed }

    func show(_ notification: PushMessage.Notification, tag: String, data: [String: String]) async {
        popUp(notification, tag: tag, data: data)
    }

    func remove(tag: String) async {
        popups.remove(tag)
        changes.tell()
    }

    func delivered() async -> [PushMessage] {
        let shown = popups.all.map(\.message)
        // Android tells an app only what its pop-ups say.
        return control.platform == .ios ? shown : shown.map { PushMessage(notification: $0.notification, data: [:]) }
    }

    /// What the operating system passes to the app when the person taps a pop-up.
    func tapped(_ popup: Popups.Popup) -> PushMessage {
        // Android starts the app with the message's data alone.
        control.platform == .ios ? popup.message : PushMessage(data: popup.data)
    }

    private func popUp(_ notification: PushMessage.Notification, tag: String, data: [String: String]) {
        guard control.platform == .android || memory.system.permission == .granted else { return }
        let popup = Popups.Popup(id: tag, data: data, title: notification.title, body: notification.body, at: clock.now)
        popups.show(popup)
        poppedUp(popup)
        changes.tell()
    }
}

/// The pop-ups that the phone shows, the newest first.
final class Popups: Sendable {
    struct Popup: Hashable, Sendable {
        /// A later pop-up with the same id replaces this one.
        let id: String
        /// The data of the FCM message, which a tap passes to the app; empty for the app's own pop-ups.
        let data: [String: String]
        let title: String
        let body: String
        /// Unix milliseconds, by the phone's clock.
        let at: Int64

        /// The announced message; `nil` if the FCM message has no key.
        var msiKey: String? { data["msi_key"] }
        /// The FCM message.
        var message: PushMessage { PushMessage(notification: .init(title: title, body: body, tag: id), data: data) }
    }

    private static let max = 50
    private let shown = Mutex<[Popup]>([])

    var all: [Popup] { shown.withLock(\.self) }

    func show(_ popup: Popup) {
        shown.withLock { shown in
            shown.removeAll { $0.id == popup.id }
            shown.insert(popup, at: 0)
            shown.removeLast(Swift.max(0, shown.count - Self.max))
        }
    }

    func remove(_ id: String) { shown.withLock { shown in shown.removeAll { $0.id == id } } }

    func removeAll() { shown.withLock { $0 = [] } }
}
