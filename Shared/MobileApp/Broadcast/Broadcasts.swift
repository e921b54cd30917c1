import GRDB
import JSON
import Schemas

/// Broadcasts at app launch, and the features that they switch (seeds 001 and 004).
///
/// They come by FCM, and the app asks the hub for them at its start: FCM brings nothing that was sent before the phone has joined.
public struct Broadcasts: Sendable {
    private let hub: any HubConnection
    private let database: AppDatabase
    private let clock: any DeviceClock
    private let subscriptions: Subscriptions
    private let local: LocalBroadcasts
    /// Called after each broadcast that was taken over, and after each that was removed.
    private let arrived: @Sendable (BroadcastArrival) -> Void

    private static let path = "/broadcast/active"
    private static let installedMemory = "installed"
    private static let tagMemory = "broadcasts tag"
    private static let askedMemory = "broadcasts asked"

    init(
        platform: Platform, database: AppDatabase, subscriptions: Subscriptions, local: LocalBroadcasts,
        arrived: @escaping @Sendable (BroadcastArrival) -> Void
    ) {
        hub = platform.hub
        clock = platform.clock
        self.database = database
        self.subscriptions = subscriptions
        self.local = local
        self.arrived = arrived
    }

    // MARK: What the student sees

    /// The cards that the app shows now: what cannot be closed first, then what began last.
    ///
    /// - Parameter language: The phone's language, as a tag such as `en` or `pt-BR`.
    public func cards(language: String) async throws -> [BroadcastCard] {
        let now = clock.now
        let (current, topics) = try await current(at: now)
        let shown = current.filter { !$0.isClosed && $0.broadcast.isFor(topics) && $0.broadcast.starts.rawValue <= now }
        let cards = shown.sorted { $0.broadcast.starts > $1.broadcast.starts }.compactMap {
            BroadcastCard($0.broadcast, language: language)
        }
        let all = cards + (try await localCards(language: language, at: now))
        return all.filter { !$0.isCancellable } + all.filter(\.isCancellable)
    }

    /// Closes a card for good. A later version of the broadcast is shown again.
    ///
    /// - Returns: `false` if the card cannot be closed.
    public func close(_ card: BroadcastCard) async throws -> Bool {
        guard card.isCancellable else { return false }
        try await database.db.write { db in try BroadcastMemory.close(card, db) }
        return true
    }

    /// The features that the hub has switched for this phone. A feature that is not named is as the app has it.
    public func features() async throws -> [AppFeature] {
        let now = clock.now
        let (current, topics) = try await current(at: now)
        let installation = try await database.db.write { db in try db.installation() }
        var last: [String: FeatureSwitch] = [:]
        for (broadcast, _) in current where broadcast.isFor(topics) && broadcast.starts.rawValue <= now {
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

    private func current(at now: Int64) async throws -> ([(broadcast: PhoneBroadcast, isClosed: Bool)], topics: Set<String>) {
        let current = try await database.db.read { db in try BroadcastMemory.current(at: now, db) }
        guard !current.isEmpty else { return ([], []) }
        return (current, BroadcastTopics.all(for: try await subscriptions.subscribedTopics()))
    }

    private func localCards(language: String, at now: Int64) async throws -> [BroadcastCard] {
        guard !local.all.isEmpty else { return [] }
        let (installed, closed) = try await database.db.read { db in
            (
                try db.memory(Self.installedMemory).flatMap(Int64.init),
                try Set(Int64.fetchAll(db, sql: "SELECT id FROM ClosedBroadcast"))
            )
        }
        guard let installed else { return [] }
        return local.all.compactMap { draft in
            guard let id = draft.id, !closed.contains(id), let hours = draft.relativeTime,
                now >= installed + Int64(hours) * 3_600_000
            else { return nil }
            return BroadcastCard(draft, id: id, language: language, or: local.language)
        }
    }

    // MARK: What happens by itself

    /// The app is started: from the first time on, the hours of local broadcasts count.
    func started() async throws {
        let now = clock.now
        try await database.db.write { db in
            if try db.memory(Self.installedMemory) == nil { try db.keep("\(now)", as: Self.installedMemory) }
            try BroadcastMemory.clearOld(at: now, db)
        }
    }

    /// Takes over the data of a message of FCM.
    ///
    /// - Returns: Whether what the student sees may have changed; `nil` if it is another message.
    func receive(_ data: [String: String]) async throws -> Bool? {
        switch try BroadcastPushData(data) {
        case nil: return nil
        case .broadcast(let broadcast): return try await take([broadcast], [])
        case .withdrawal(let withdrawn): return try await take([], [withdrawn])
        }
    }

    /// Asks the hub for what is active.
    ///
    /// - Returns: Whether what the student sees may have changed.
    /// - Throws: ``HubFailure``, or the error of the connection.
    func refresh() async throws -> Bool {
        let channels = BroadcastTopics.channels(of: try await subscriptions.subscribedTopics())
        let path = Self.path + (channels.isEmpty ? "" : "?channel=" + channels.joined(separator: ","))
        let tag = try await database.db.read { db in
            try db.memory(Self.askedMemory) == path ? db.memory(Self.tagMemory) : nil
        }
        let answer = try await hub.answer(to: HubRequest(.get, path, headers: tag.map { ["If-None-Match": $0] } ?? [:]))
        switch answer.status {
        case 304: return false
        // A hub of an earlier version has no broadcasts.
        case 404: return false
        case 200: break
        default: throw HubFailure.refused(status: answer.status, path: Self.path)
        }
        guard let active: Active = try? JSONCoder.decode(from: answer.body) else { throw HubFailure.unreadable(Self.path) }
        let hasChanged = try await take(active.broadcasts, active.withdrawn)
        try await database.db.write { db in
            try db.keep(path, as: Self.askedMemory)
            try db.keep(answer.entityTag, as: Self.tagMemory)
        }
        return hasChanged
    }

    private struct Active: Decodable {
        let broadcasts: [PhoneBroadcast]
        let withdrawn: [WithdrawnBroadcast]
    }

    private func take(_ broadcasts: [PhoneBroadcast], _ withdrawn: [WithdrawnBroadcast]) async throws -> Bool {
        let now = clock.now
        let arrivals = try await database.db.write { db in
            let new = try broadcasts.filter { try BroadcastMemory.add($0, at: now, db) }
            let gone = try withdrawn.filter { try BroadcastMemory.withdraw($0, db) }
            return new.map { BroadcastArrival(id: $0.id, version: $0.version, isWithdrawn: false) }
                + gone.map { BroadcastArrival(id: $0.id, version: $0.version, isWithdrawn: true) }
        }
        for arrival in arrivals { arrived(arrival) }
        return !arrivals.isEmpty
    }

    /// When a broadcast begins or ends next, in Unix milliseconds; `nil` if none does.
    func nextChange() async throws -> Int64? {
        let now = clock.now
        let current = try await database.db.read { db in try BroadcastMemory.current(at: now, db) }
        var moments = current.flatMap { [$0.broadcast.starts.rawValue, $0.broadcast.expires.rawValue] }
        if !local.all.isEmpty,
            let installed = try await database.db.read({ db in try db.memory(Self.installedMemory).flatMap(Int64.init) })
        {
            moments += local.all.compactMap(\.relativeTime).map { installed + Int64($0) * 3_600_000 }
        }
        return moments.filter { $0 > now }.min()
    }
}

/// A broadcast that the phone has taken over, or removed because it was withdrawn.
public struct BroadcastArrival: Hashable, Sendable {
    public let id: Int64
    public let version: Int64
    public let isWithdrawn: Bool
}

extension PhoneBroadcast {
    /// Whether it is for a phone with these topics.
    fileprivate func isFor(_ topics: Set<String>) -> Bool {
        if let channels { return channels.contains { topics.contains($0.description) } }
        if let condition { return TopicCondition.isFulfilled(condition, by: topics) }
        return true
    }
}

extension BroadcastCard {
    /// - Returns: `nil` if nothing is shown.
    fileprivate init?(_ broadcast: PhoneBroadcast, language: String) {
        self.init(
            broadcast.type, broadcast.actionData, number: broadcast.id, origin: .hub, language: language, or: broadcast.language,
            expires: broadcast.expires.rawValue)
    }

    fileprivate init?(_ draft: BroadcastDraft, id: Int64, language: String, or fallback: String) {
        self.init(draft.type, draft.actionData, number: id, origin: .app, language: language, or: fallback, expires: nil)
    }

    private init?(
        _ type: BroadcastType, _ action: BroadcastActionData, number: Int64, origin: Origin, language: String,
        or fallback: String, expires: Int64?
    ) {
        guard let texts = action.texts(in: language, or: fallback) else { return nil }
        switch type {
        case .downtime: kind = .downtime
        case .others: kind = .others
        case .greetings: kind = .greetings
        case .nonDisplay: return nil
        }
        self.number = number
        self.origin = origin
        title = texts.title
        message = texts.msg
        poster = action.poster
        isCancellable = action.cancellable ?? true
        self.expires = expires
    }
}
