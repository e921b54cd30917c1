import GRDB
import Schemas
import Synchronization

/// Broadcasts at app launch, and the features that they switch (seeds 001 and 004).
///
/// They come by FCM, and the app asks the hub for them at its start: FCM brings nothing that was sent before the phone has joined.
public final class Broadcasts: Sendable {
    let platform: Platform
    let database: AppDatabase
    let subscriptions: Subscriptions
    let local: LocalBroadcasts
    /// Called after each broadcast that was taken over, and after each that was removed.
    let arrived: @Sendable (BroadcastArrival) -> Void
    /// The broadcasts of the app that this run has shown, and that the student has not closed.
    private let shownNow = Mutex<Set<Int64>>([])

    init(
        platform: Platform, database: AppDatabase, subscriptions: Subscriptions, local: LocalBroadcasts,
        arrived: @escaping @Sendable (BroadcastArrival) -> Void
    ) {
        self.platform = platform
        self.database = database
        self.subscriptions = subscriptions
        self.local = local
        self.arrived = arrived
    }

    var hub: any HubConnection { platform.hub }
    var clock: any DeviceClock { platform.clock }

    /// The channels whose broadcasts the student has switched off.
    public func channelsOff() async throws -> Set<String> {
        try await database.db.read(BroadcastTopics.off)
    }

    /// Switches the broadcasts of a channel on or off. Those for every phone cannot be switched off. FCM learns of it at the next look
    /// (``MobileApp/refresh()``).
    ///
    /// - Throws: `DatabaseError`.
    public func set(channel: String, areOn: Bool) async throws {
        try await database.db.write { db in try BroadcastTopics.set(channel, areOn: areOn, db) }
    }

    /// The person has tapped a pop-up, which the system no longer shows. Call it before the app is started.
    ///
    /// - Parameter popup: On Android a tap brings the data without the texts.
    /// - Throws: `DatabaseError`, or `SchemaViolation` if it is a broadcast that this version cannot read.
    public func opened(_ popup: PushMessage) async throws {
        _ = try await receive(popup)
    }

    /// The cards that the app shows now: those that cannot be closed come first, then the latest ones.
    ///
    /// - Parameter language: The phone's language, as a tag such as `en` or `pt-BR`.
    public func cards(language: String) async throws -> [BroadcastCard] {
        let now = clock.now
        let shown = try await active(at: now).filter { !$0.isClosed }
        let cards = shown.sorted { $0.broadcast.starts > $1.broadcast.starts }.compactMap {
            BroadcastCard($0.broadcast, language: language)
        }
        let closed = try await database.db.read(BroadcastMemory.closedLocal).subtracting(shownNow.withLock(\.self))
        let all = cards + (try await localCards(language: language, at: now, without: closed))
        return all.filter { !$0.isCancellable } + all.filter(\.isCancellable)
    }

    /// Notes that the screen shows a card. A card that ships with the app stays until the student closes it or the app ends, and is not
    /// shown again after the next start. For a card from the hub this does nothing.
    ///
    /// - Throws: `DatabaseError`.
    public func shown(_ card: BroadcastCard) async throws {
        guard card.origin == .app else { return }
        try await database.db.write { db in
            // One that was closed in between stays closed.
            guard try BroadcastMemory.closeLocal(card.number, db) else { return }
            self.shownNow.withLock { _ = $0.insert(card.number) }
        }
    }

    /// Closes a card for good, with its pop-up. A later version of the broadcast is shown.
    ///
    /// - Returns: `false` if the card cannot be closed.
    /// - Throws: `DatabaseError`.
    public func close(_ card: BroadcastCard) async throws -> Bool {
        guard card.isCancellable else { return false }
        try await database.db.write { db in
            switch card.origin {
            case .hub: try BroadcastMemory.close(card.number, version: card.version, db)
            case .app:
                _ = try BroadcastMemory.closeLocal(card.number, db)
                self.shownNow.withLock { _ = $0.remove(card.number) }
            }
        }
        if card.origin == .hub { try await removeOldPopups() }
        return true
    }

    /// The features that the hub has switched for this phone. For all others the app's default applies.
    public func features() async throws -> [AppFeature] {
        let active = try await active(at: clock.now)
        let installation = try await database.db.write { db in try db.installation() }
        var last: [String: FeatureSwitch] = [:]
        for (broadcast, _) in active {
            guard let feature = FeatureSwitch(broadcast), feature.includes(installation: installation) else { continue }
            if let known = last[feature.feature], !feature.overrides(known) { continue }
            last[feature.feature] = feature
        }
        return last.values.sorted { $0.feature < $1.feature }.map {
            AppFeature(name: $0.feature, isOn: $0.enabled, data: $0.data, expires: $0.expires.rawValue)
        }
    }

    /// Whether a feature is on for this phone.
    ///
    /// - Parameter fallback: Whether it is on if the hub has not switched it.
    public func isOn(_ feature: String, or fallback: Bool) async throws -> Bool {
        try await features().first { $0.name == feature }?.isOn ?? fallback
    }

    /// The data that the hub has for the app of this phone, without the name of a feature: what began last first.
    public func data() async throws -> [BroadcastData] {
        try await active(at: clock.now).map(\.broadcast).sorted { ($0.starts, $0.id) > ($1.starts, $1.id) }.compactMap(
            BroadcastData.init)
    }

    /// The broadcasts for this phone that have begun and not expired, and whether the student has closed each.
    private func active(at now: Int64) async throws -> [(broadcast: PhoneBroadcast, isClosed: Bool)] {
        let current = try await database.db.read { db in try BroadcastMemory.current(at: now, db) }
        guard !current.isEmpty else { return [] }
        let topics = BroadcastTopics.all(
            for: try await subscriptions.subscribedTopics(), in: try await subscriptions.subscribedChannels(),
            without: try await channelsOff())
        return current.filter { $0.broadcast.isFor(topics) && $0.broadcast.starts.rawValue <= now }
    }

    /// The broadcasts of the app whose hours have passed.
    func localCards(language: String, at now: Int64, without closed: Set<Int64>) async throws -> [BroadcastCard] {
        guard !local.all.isEmpty, let installed = try await installed() else { return [] }
        return local.all.compactMap { draft in
            guard let id = draft.id, !closed.contains(id), let hours = draft.relativeTime,
                now >= installed + Int64(hours) * 3_600_000
            else { return nil }
            return BroadcastCard(draft, id: id, language: language, or: local.language)
        }
    }
}

extension PhoneBroadcast {
    /// Whether it is for a phone with these topics.
    fileprivate func isFor(_ topics: Set<String>) -> Bool {
        if let channels { return channels.contains { topics.contains($0.description) } }
        if let condition { return TopicCondition.isFulfilled(condition, by: topics) }
        return true
    }
}
