import Base
import Logging
import MobileApp
import ServiceLifecycle
import Synchronization

/// A phone with the students' app: a registration at the FCM emulator, an operating system, and an app that can be killed.
final class SimulatedPhone: Service {
    let name: String
    let platform: PhonePlatform
    let changes = Changes()
    let clock: PhoneClock
    private let database: AppDatabase
    private let logger: Logger
    /// The app. It shows the stored messages even while it does not run.
    private let current: Mutex<MobileApp>
    private let makeApp: @Sendable () -> MobileApp
    /// How often the app was killed, and how often the phone was replaced. The app's task or the connection may still be about to follow.
    private let counts = Mutex((ends: 0, phones: 0))
    private let restarts = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    var memory: PhoneMemory { platform.memory }
    var app: MobileApp { current.withLock(\.self) }

    /// - Parameters:
    ///   - broadcastCopy: The URL of a copy of the active broadcasts on another server.
    ///   - localBroadcasts: Those that ship with the app.
    ///   - interval: How often the app looks at the hub.
    ///   - arrived: Called after each message that the app has added.
    ///   - recalled: Called after each Alert that the app has removed because it was recalled.
    ///   - pushed: Called before each data message that FCM brings is passed to the app.
    ///   - broadcastArrived: The same as for messages, for broadcasts.
    ///   - poppedUp: Called after each pop-up that the operating system has shown.
    init(
        name: String, memory: PhoneMemory, fcm: FCMConnection, gateway: String, hub: Network, broadcastCopy: String? = nil,
        localBroadcasts: LocalBroadcasts = .none, interval: Duration = .seconds(60), logger: Logger,
        arrived: @escaping @Sendable (StoredMessage) -> Void = { _ in },
        recalled: @escaping @Sendable (StoredMessage) -> Void = { _ in },
        pushed: @escaping @Sendable (PushMessage) -> Void = { _ in },
        broadcastArrived: @escaping @Sendable (BroadcastArrival) -> Void = { _ in },
        poppedUp: @escaping @Sendable (Popups.Popup) -> Void = { _ in }
    ) throws {
        self.name = name
        self.logger = logger
        database = try AppDatabase(path: memory.databasePath)
        clock = PhoneClock(memory: memory)
        platform = PhonePlatform(
            memory: memory, changes: changes, fcm: fcm, gateway: gateway, hub: hub, logger: logger, pushed: pushed,
            poppedUp: poppedUp)
        makeApp = { [platform, clock, database] in
            let kind: Platform.Kind = platform.memory.system.control.platform == .ios ? .ios : .android
            return MobileApp(
                platform: Platform(
                    kind: kind, push: platform, notifications: platform, hub: platform, clock: clock,
                    readBroadcastCopy: broadcastCopy.map { url in
                        { @Sendable () async throws -> HubAnswer in try await platform.readBroadcastCopy(at: url) }
                    },
                    language: { platform.memory.system.control.language.rawValue },
                    secretStore: PhoneSecretStore(memory: platform.memory), deviceName: name, appVersion: productVersion),
                database: database, localBroadcasts: localBroadcasts, interval: interval, arrived: arrived, recalled: recalled,
                broadcastArrived: broadcastArrived)
        }
        current = Mutex(makeApp())
    }

    func run() async throws {
        await cancelWhenGracefulShutdown { [self] in await stayOn() }
    }

    /// The phone is switched on until the task is cancelled.
    func stayOn() async {
        await withTaskGroup { [self] group in
            group.addTask { await self.keepNetwork() }
            group.addTask { await self.keepApp() }
        }
    }

    /// Changes what the person does with the phone.
    ///
    /// - Throws: ``DurableFileFailure``.
    func change(_ change: PhoneControl.Change) throws -> PhoneControl {
        let (old, new) = try memory.change { system in
            let old = system.control
            system.control = old.applying(change)
            if system.control.platform != old.platform {
                // Another phone: it registers, asks for the permission, and has an app without data.
                system.permission = nil
                system.formerTokens = (system.formerTokens ?? []) + [system.token].compactMap(\.self)
                system.token = nil
                system.key = nil
                system.hasFormerData = true
            }
            return (old, system.control)
        }
        let isReplaced = old.platform != new.platform
        counts.withLock { counts in
            if isReplaced { counts.phones += 1 }
            if isReplaced || new.killed { counts.ends += 1 }
        }
        if old.killed != new.killed || isReplaced || old.offline != new.offline {
            restarts.continuation.yield()
        }
        if !new.killed, new.foreground, !old.foreground { app.refresh() }
        if !new.killed, !new.foreground, old.foreground { sendReceipts() }
        changes.tell()
        return new
    }

    /// Sends receipts when the app leaves the screen: the operating system leaves it a moment to work.
    private func sendReceipts() {
        Task { [app, logger] in
            do {
                try await app.receipts.send()
            } catch {
                logger.debug("the app reports later", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Runs the app while it is not killed. After a kill the app always starts again, however short the kill was.
    private func keepApp() async {
        var running: (task: Task<Void, Never>, ends: Int)?
        var wasOffline = memory.system.control.offline
        for await _ in Self.beginning(with: (), then: restarts.stream) {
            let ends = counts.withLock(\.ends)
            let control = memory.system.control
            if let (task, begin) = running, control.killed || begin != ends {
                task.cancel()
                await task.value
                running = nil
                // A new app forgets what this run has shown, even before it starts.
                current.withLock { $0 = makeApp() }
            }
            if memory.system.hasFormerData == true { await removeFormerData() }
            if !control.killed, running == nil {
                let app = makeApp()
                current.withLock { $0 = app }
                running = (Task { [self] in await run(app) }, ends)
            } else if wasOffline, !control.offline {
                app.refresh()
            }
            wasOffline = control.offline
            reconnect.yield()
            changes.tell()
        }
        running?.task.cancel()
        await running?.task.value
    }

    /// Removes the previous phone's data while the app does not run.
    private func removeFormerData() async {
        do {
            try await database.clear()
            platform.popups.removeAll()
            current.withLock { $0 = makeApp() }
            try memory.change { $0.hasFormerData = nil }
        } catch {
            logger.error("the app's data cannot be removed", metadata: ["error": "\(error)"])
        }
    }

    private func run(_ app: MobileApp) async {
        await withTaskGroup { group in
            group.addTask { [logger] in
                await app.run { error in logger.debug("the app tries again", metadata: ["error": "\(error)"]) }
            }
            group.addTask { [changes] in for await _ in app.changes() { changes.tell() } }
        }
    }

    // MARK: The connection to FCM

    private let reconnects = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    private var reconnect: AsyncStream<Void>.Continuation { reconnects.continuation }

    /// Keeps the operating system connected to FCM while the phone is online, even while the app is killed.
    private func keepNetwork() async {
        var connected: (task: Task<Void, Never>, phones: Int)?
        for await _ in Self.beginning(with: (), then: reconnects.stream) {
            let phones = counts.withLock(\.phones)
            let control = memory.system.control
            if let (task, begin) = connected, control.offline || begin != phones {
                task.cancel()
                await task.value
                connected = nil
            }
            if !control.offline, connected == nil {
                connected = (Task { [self] in await platform.stayConnected { app.refresh() } }, phones)
            }
        }
        connected?.task.cancel()
        await connected?.task.value
    }

    private static func beginning(with first: Void, then stream: AsyncStream<Void>) -> AsyncStream<Void> {
        let (both, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        continuation.yield()
        let forwarding = Task {
            for await _ in stream { continuation.yield() }
            continuation.finish()
        }
        continuation.onTermination = { _ in forwarding.cancel() }
        return both
    }
}

/// Wakes watchers after changes. Several changes before a watcher runs count as one.
final class Changes: Sendable {
    private struct State {
        var last = 0
        var watchers: [Int: AsyncStream<Void>.Continuation] = [:]
    }

    private let state = Mutex(State())

    func tell() {
        for watcher in state.withLock({ Array($0.watchers.values) }) { watcher.yield() }
    }

    /// Its first element comes at once.
    func watch() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let id = state.withLock { state in
            state.last += 1
            state.watchers[state.last] = continuation
            return state.last
        }
        continuation.onTermination = { [weak self] _ in _ = self?.state.withLock { $0.watchers.removeValue(forKey: id) } }
        continuation.yield()
        return stream
    }
}
