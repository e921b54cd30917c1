import Base

/// The student's app without a screen: the seed's six modules, and the loops that run them.
///
/// ``run(failed:)`` does everything that happens by itself. A screen shows ``messages`` and ``subscriptions``, and reads them again
/// after each element of ``changes()``.
public final class MobileApp: Sendable {
    public let messages: Messages
    public let subscriptions: Subscriptions
    public let receipts: Receipts
    public let broadcasts: Broadcasts
    public let badge: Badge
    /// The person who is signed in.
    public let account: Account
    private let platform: Platform
    private let database: AppDatabase
    private let fcm: FCMModule
    private let initialization: Initialization
    private let missed: MissedMessages
    private let watchers = Watchers<Void>()
    private let personPushWatchers = Watchers<PersonPush>()
    private let refreshRequests = RefreshRequests()
    /// Wake-ups of the clock's loop: a broadcast that has arrived may begin or end sooner.
    private let broadcastRequests = RefreshRequests()
    /// Requests to compare the phone's topics with what FCM says.
    private let comparisonRequests = RefreshRequests()
    private let pollWaiters = PollWaiters()

    /// How often the app looks at the hub.
    private let interval: Duration
    /// The random delay within which phones fetch a text that FCM could not carry.
    private static let spread = Duration.seconds(10)

    /// One run of the app: each start makes a new one.
    ///
    /// - Parameters:
    ///   - localBroadcasts: Those that ship with the app.
    ///   - interval: How often the app looks at the hub.
    ///   - arrived: Called after each message that was added, whether FCM or the hub brought it. It must not block.
    ///   - recalled: Called after each Alert that was removed because it was recalled. It must not block.
    ///   - broadcastArrived: The same as for messages, for broadcasts.
    public init(
        platform: Platform, database: AppDatabase, localBroadcasts: LocalBroadcasts = .none, interval: Duration = .seconds(60),
        arrived: @escaping @Sendable (StoredMessage) -> Void = { _ in },
        recalled: @escaping @Sendable (StoredMessage) -> Void = { _ in },
        broadcastArrived: @escaping @Sendable (BroadcastArrival) -> Void = { _ in }
    ) {
        self.platform = platform
        self.database = database
        self.interval = interval
        fcm = FCMModule(platform: platform)
        badge = Badge(database: database, clock: platform.clock)
        account = Account(platform: platform, database: database, changed: { [watchers] in watchers.tell(()) })
        receipts = Receipts(hub: platform.hub, database: database, clock: platform.clock)
        messages = Messages(
            database: database, clock: platform.clock, receipts: receipts, refreshRequests: refreshRequests, arrived: arrived)
        subscriptions = Subscriptions(platform: platform, fcm: fcm, database: database)
        broadcasts = Broadcasts(
            platform: platform, database: database, subscriptions: subscriptions, local: localBroadcasts,
            arrived: { [broadcastRequests] arrival in
                broadcastRequests.add(.now)
                broadcastArrived(arrival)
            })
        initialization = Initialization(platform: platform, database: database, subscriptions: subscriptions)
        missed = MissedMessages(
            hub: platform.hub, notifications: platform.notifications, database: database, messages: messages, recalled: recalled)
    }

    /// Whether the app has been initialised: it receives messages.
    public func isInitialized() async throws -> Bool {
        try await initialization.isDone()
    }

    /// An element after each change of messages, after each sign-in and sign-out, and after each look at the hub.
    public func changes() -> AsyncStream<Void> { watchers.stream(.bufferingNewest(1)) }

    /// The pushes to the person that reach the app, from now on: at each, a screen asks the hub for what has changed. While the app is in the
    /// background, the system shows them, and the app learns of one with the tap on its pop-up (``PersonPush/init(data:)``).
    public func personPushes() -> AsyncStream<PersonPush> { personPushWatchers.stream(.bufferingNewest(100)) }

    /// The app looks at the hub at once, such as when the phone is online again, or FCM has replaced its registration.
    public func refresh() {
        refreshRequests.add(.now)
    }

    /// The app does not run, or has ended.
    public struct NotRunning: Error, Hashable, Sendable {}

    /// Looks at the hub at once, such as when the person asks, and completes with the look's outcome.
    ///
    /// - Throws: ``NotRunning``, or why the look has failed: ``HubFailure``, or the error of the connection or of the push service.
    public func look() async throws {
        try await pollWaiters.wait { refresh() }
    }

    /// Receives messages, reports them, initialises the app, and looks at the cube and for missed messages at the start and every minute, until
    /// the task is cancelled. Old messages are cleared at the start.
    ///
    /// - Parameter failed: Called after each failure; the app tries again.
    public func run(failed: @escaping @Sendable (any Error) -> Void) async {
        do {
            try await messages.clearOld()
            try await broadcasts.started()
        } catch {
            failed(error)
        }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [self] in
                let listener = Listener(
                    fcm: fcm, messages: messages, broadcasts: broadcasts,
                    personPush: { self.personPushWatchers.tell($0) }, changed: { self.tell() },
                    needsText: { self.refreshRequests.add(.soon) })
                await listener.listen(failed: failed)
            }
            group.addTask { [self] in await keepInStep(failed: failed) }
            group.addTask { [self] in await keepComparing(failed: failed) }
            group.addTask { [receipts] in await receipts.run(failed: failed) }
            group.addTask { [account, fcm] in await account.run(fcm, failed: failed) }
            group.addTask { [self] in await watchClock() }
        }
    }

    private func keepInStep(failed: @Sendable (any Error) -> Void) async {
        pollWaiters.begin()
        defer { pollWaiters.end() }
        var backoff = Backoff(first: .seconds(1), max: interval, jitter: 0.5...1)
        var hasLooked = false
        while !Task.isCancelled {
            let waiters = pollWaiters.take()
            let pause: Duration
            do {
                if hasLooked { comparisonRequests.add(.now) }
                account.registrations.add(.now)
                try await lookOnce(failed: failed)
                for waiter in waiters { waiter.finish() }
                backoff.succeeded()
                // Spreads the requests of phones that were started at the same moment.
                pause = interval * (hasLooked ? Double.random(in: 0.75...1.25) : Double.random(in: 0...1))
            } catch {
                failed(error)
                for waiter in waiters { waiter.finish(throwing: error) }
                pause = backoff.failed()
            }
            hasLooked = true
            await wait(pause)
        }
    }

    /// Compares once after the start, beside the second look, and whenever FCM has replaced the registration. Nothing waits for it: while FCM
    /// does not answer, the hub's answer takes long. If something has changed, the app looks again.
    private func keepComparing(failed: (any Error) -> Void) async {
        /// The registration of the last comparison.
        var compared: String?
        while await comparisonRequests.next() != nil {
            do {
                let token = try await fcm.registrationToken()
                guard token != compared else { continue }
                if try await subscriptions.compare() { refreshRequests.add(.now) }
                compared = token
            } catch {
                failed(error)
            }
        }
    }

    /// One look at the hub. The hub's messages come also while FCM cannot be reached. Broadcasts come whatever else cannot be reached:
    /// one may be about this outage.
    private func lookOnce(failed: (any Error) -> Void) async throws {
        defer { tell() }
        if try await broadcasts.takePopups() { tell() }
        let channels = try await broadcasts.channels()
        async let firstAnswer = Result.of { try await self.refreshBroadcasts(of: channels) }
        let joining = await Result.of { try await initialization.initialize() }
        let joinedChannels = try await broadcasts.channels()
        var broadcastAnswer = await firstAnswer
        if joinedChannels != channels {
            broadcastAnswer = await Result.of { try await refreshBroadcasts(of: joinedChannels) }
        }
        let isFirst = try await missed.isFirst()
        let joined = try await subscriptions.weekPending()
        let topics = try await subscriptions.subscribedTopics()
        try await missed.fetch(topics, failed: failed)
        let incomplete = try await messages.incomplete()
        var week = Set(incomplete.map(\.topicKey))
        // The first fetch was of the whole week.
        if !isFirst { week.formUnion(joined.intersection(topics)) }
        try await missed.fetchWeek(week, subscribed: topics, failed: failed)
        try await subscriptions.weekFetched(joined)
        try await messages.markLost(incomplete)
        _ = try joining.get()
        _ = try broadcastAnswer.get()
    }

    private func refreshBroadcasts(of channels: [String]) async throws {
        do {
            if try await broadcasts.refresh(channels) { tell() }
        } catch {
            // The look has failed, whatever the copy says.
            if (try? await broadcasts.refreshFromCopy()) == true { tell() }
            throw error
        }
    }

    /// A card appears when its broadcast begins, and goes when it expires. One that ships with the app has a pop-up in the background.
    /// The badge changes when the quiet hours end.
    private func watchClock() async {
        var checked = platform.clock.now
        var wasQuiet = false
        while !Task.isCancelled {
            let now = platform.clock.now
            let moments = (try? await broadcasts.moments(after: min(checked, now))) ?? []
            // The clock may have been set back.
            if moments.contains(where: { $0 <= max(checked, now) }) { tell() }
            checked = now
            try? await broadcasts.announceLocal()
            let quietUntil = try? await badge.quietUntil()
            if wasQuiet, quietUntil == nil { tell() }
            wasQuiet = quietUntil != nil
            let nextMoment = (moments + [quietUntil].compactMap(\.self)).filter { $0 > now }.min()
            let pause = nextMoment.map { Duration.milliseconds($0 - now) }
            // One that arrives may begin or end sooner.
            _ = await next(.now, of: broadcastRequests, within: min(pause ?? Self.broadcastCheck, Self.broadcastCheck))
        }
    }

    /// The longest pause between checks whether a broadcast begins or ends, since the clock may be changed.
    private static let broadcastCheck = Duration.seconds(30)

    /// Waits for a time, or for a request.
    private func wait(_ pause: Duration) async {
        guard await next(.soon, of: refreshRequests, within: pause) == .soon else { return }
        // A person's request does not wait for this phone's random delay.
        _ = await next(.now, of: refreshRequests, within: Self.spread * Double.random(in: 0...1))
    }

    /// Waits for a request of at least this urgency.
    ///
    /// - Returns: `nil` if there was none in this time.
    private func next(
        _ urgency: RefreshRequests.Urgency, of requests: RefreshRequests, within time: Duration
    ) async -> RefreshRequests.Urgency? {
        await withTaskGroup(of: RefreshRequests.Urgency?.self) { [platform] group in
            defer { group.cancelAll() }
            group.addTask {
                try? await platform.clock.sleep(for: time)
                return nil
            }
            group.addTask {
                while let request = await requests.next() { if request >= urgency { return request } }
                return nil
            }
            return await group.next() ?? nil
        }
    }

    private func tell() {
        watchers.tell(())
    }
}

extension Result where Failure == any Error {
    fileprivate static func of(_ body: () async throws -> Success) async -> Result {
        do { return .success(try await body()) } catch { return .failure(error) }
    }
}
