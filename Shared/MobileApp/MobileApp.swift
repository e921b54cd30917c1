import Synchronization
import Time

/// The student's app without a screen: the seed's six modules, and what keeps them going.
///
/// ``run(failed:)`` does everything that happens by itself. A screen shows ``messages`` and ``subscriptions``, and reads them again
/// after each element of ``changes()``.
public final class MobileApp: Sendable {
    public let messages: Messages
    public let subscriptions: Subscriptions
    public let receipts: Receipts
    private let platform: Platform
    private let database: AppDatabase
    private let fcm: FCMModule
    private let initialization: Initialization
    private let missed: MissedMessages
    private let watchers = Mutex<[Int: AsyncStream<Void>.Continuation]>([:])
    private let refreshRequests = RefreshRequests()

    /// How often the app looks at the hub.
    private static let interval = Duration.seconds(60)
    /// Within which time the phones fetch a text that FCM could not carry.
    private static let spread = Duration.seconds(10)

    /// - Parameter arrived: Called after each message that was added, whether FCM or the hub brought it. It must not block.
    public init(
        platform: Platform, database: AppDatabase, arrived: @escaping @Sendable (StoredMessage) -> Void = { _ in }
    ) {
        self.platform = platform
        self.database = database
        fcm = FCMModule(platform: platform)
        receipts = Receipts(hub: platform.hub, database: database, clock: platform.clock)
        messages = Messages(database: database, clock: platform.clock, receipts: receipts, arrived: arrived)
        subscriptions = Subscriptions(platform: platform, fcm: fcm, database: database)
        initialization = Initialization(platform: platform, database: database, subscriptions: subscriptions)
        missed = MissedMessages(hub: platform.hub, database: database, messages: messages)
    }

    /// Whether the app has been initialised: it receives messages.
    public func isInitialized() async throws -> Bool {
        try await initialization.isDone()
    }

    /// An element after each change of messages or subscriptions.
    public func changes() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let id = watchers.withLock { watchers in
            let id = (watchers.keys.max() ?? 0) + 1
            watchers[id] = continuation
            return id
        }
        continuation.onTermination = { [weak self] _ in self?.watchers.withLock { $0[id] = nil } }
        return stream
    }

    /// The app looks at the hub at once, such as when the phone is online again.
    public func refresh() {
        refreshRequests.add(.now)
    }

    /// Receives messages, reports them, initialises the app, and looks at the cube and for missed messages at the start and every minute, until
    /// the task is cancelled. Old messages are cleared at the start.
    ///
    /// - Parameter failed: Called after each failure; the app tries again.
    public func run(failed: @escaping @Sendable (any Error) -> Void) async {
        do {
            try await messages.clearOld()
        } catch {
            failed(error)
        }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [self] in
                let listener = Listener(
                    fcm: fcm, messages: messages, changed: { self.tell() }, needsText: { self.refreshRequests.add(.soon) })
                await listener.listen(failed: failed)
            }
            group.addTask { [self] in await keepInStep(failed: failed) }
            group.addTask { [receipts] in await receipts.run(failed: failed) }
        }
    }

    private func keepInStep(failed: @Sendable (any Error) -> Void) async {
        var backoff = Backoff(first: .seconds(1), max: Self.interval, jitter: 0.5...1)
        var hasCompared = false
        while !Task.isCancelled {
            let pause: Duration
            do {
                if !hasCompared { hasCompared = await compare(failed: failed) }
                try await look()
                backoff.succeeded()
                // Phones that were started together do not stay together.
                pause = Self.interval * Double.random(in: 0.75...1.25)
            } catch {
                failed(error)
                pause = backoff.failed()
            }
            await wait(pause)
        }
    }

    /// Once after the start. Nothing else waits for it.
    private func compare(failed: (any Error) -> Void) async -> Bool {
        do {
            try await subscriptions.compare()
            return true
        } catch {
            failed(error)
            return false
        }
    }

    /// One look at the hub. The hub's messages come also while FCM cannot be reached.
    private func look() async throws {
        let joining = await Result.of { try await initialization.initialize() }
        let joined = (try? joining.get()) ?? []
        let isFirst = try await missed.isFirst()
        var hasChanged = try await missed.fetch(try await subscriptions.subscribedTopics())
        if !isFirst, !joined.isEmpty, try await missed.fetchWeek(joined) { hasChanged = true }
        if hasChanged || !joined.isEmpty { tell() }
        _ = try joining.get()
    }

    /// Waits for a time, or for a request.
    private func wait(_ pause: Duration) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [platform] in try? await platform.clock.sleep(for: pause) }
            group.addTask { [refreshRequests, platform] in
                guard await refreshRequests.next() == .soon else { return }
                try? await platform.clock.sleep(for: Self.spread * Double.random(in: 0...1))
            }
            await group.next()
            group.cancelAll()
        }
    }

    private func tell() {
        for watcher in watchers.withLock({ Array($0.values) }) { watcher.yield() }
    }
}

extension Result where Failure == any Error {
    fileprivate static func of(_ body: () async throws -> Success) async -> Result {
        do { return .success(try await body()) } catch { return .failure(error) }
    }
}
