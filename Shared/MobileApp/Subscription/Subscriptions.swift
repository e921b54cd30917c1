import FoundationEssentials
import GRDB
import Base
import Synchronization

/// The cube and the phone's subscriptions (seed module "Subscription").
public final class Subscriptions: Sendable {
    /// A subject as the student sees it: what `mergeSubData` of the seed adds to one.
    public struct Subject: Hashable, Sendable, Identifiable {
        /// Of channel, area and subject.
        public let names: [String]
        public let subject: InformationCube.Subject
        public let isSubscribed: Bool
        /// Its messages come without pop-ups. A Forced subject is never muted.
        public let isMuted: Bool

        public var id: String { subject.topicKey }
        public var isForced: Bool { subject.level == .forced }
    }

    /// What is known of a topic (seed, "getSubscriptionInfo - Data Output Format").
    public struct Info: Hashable, Sendable {
        public let channel: String
        public let area: String
        public let subject: String
        /// `nil` for a topic that is not in the cube.
        public let level: InformationCube.Level?
        public let subscribed: Bool

        public var names: [String] { [channel, area, subject] }

        /// For a topic that is not in the cube (seed, "getSubscriptionInfo - Placeholder Output Values").
        public static let placeholder = Info(channel: "Channel", area: "Area", subject: "Subject", level: nil, subscribed: false)
    }

    /// A Forced subject cannot be left.
    public struct ForcedSubject: Error, Hashable, Sendable {
        public let topicKey: String
    }

    /// Only a subject that the student is subscribed to can be muted.
    public struct NotSubscribed: Error, Hashable, Sendable {
        public let topicKey: String
    }

    private let platform: Platform
    private let fcm: FCMModule
    private let database: AppDatabase
    private let memory: SubscriptionMemory
    private let broadcastTopics: BroadcastTopics
    /// The cube (seed: `icube`, `loaded`); `nil` before it was loaded.
    private let cube = Mutex<InformationCube?>(nil)

    private static let path = "/channel"
    private static let cubeMemory = "cube"
    private static let tagMemory = "cube tag"

    init(platform: Platform, fcm: FCMModule, database: AppDatabase) {
        self.platform = platform
        self.fcm = fcm
        self.database = database
        memory = SubscriptionMemory(database: database)
        broadcastTopics = BroadcastTopics(fcm: fcm, database: database)
    }

    // MARK: The cube

    /// The information cube: that of the last look, or else that of the hub (seed: `get_iCube`).
    ///
    /// - Throws: ``HubFailure``, or the error of the connection, if the phone has never seen the cube.
    public func informationCube() async throws -> InformationCube {
        if let known = try await knownCube() { return known }
        return try await readCube()
    }

    /// The information cube of the last look, without a network; `nil` if the phone has none.
    ///
    /// - Throws: `DatabaseError`.
    public func knownCube() async throws -> InformationCube? {
        if let cube = cube.withLock(\.self) { return cube }
        let kept = try await database.db.read { db in try db.memory(Self.cubeMemory) }
        guard let kept, let copy = try? InformationCube(json: Data(kept.utf8)) else { return nil }
        return cube.withLock { cube in
            cube = cube ?? copy
            return cube
        }
    }

    /// Reads the cube from the hub, unless it is the one that the phone has.
    ///
    /// - Throws: ``HubFailure``, or the error of the connection.
    @discardableResult
    func readCube() async throws -> InformationCube {
        let known = try await knownCube()
        // The tag of a copy that cannot be read would bring no other one.
        let tag = known == nil ? nil : try await database.db.read { db in try db.memory(Self.tagMemory) }
        let answer = try await platform.hub.answer(
            to: HubRequest(.get, Self.path, headers: tag.map { ["If-None-Match": $0] } ?? [:]))
        if answer.status == 304, tag != nil, let known { return known }
        guard answer.status == 200 else { throw HubFailure.refused(status: answer.status, path: Self.path) }
        guard let fresh = try? InformationCube(json: answer.body) else { throw HubFailure.unreadable(Self.path) }
        try await database.db.write { db in
            try db.keep(String(decoding: answer.body, as: UTF8.self), as: Self.cubeMemory)
            try db.keep(answer.entityTag, as: Self.tagMemory)
        }
        cube.withLock { $0 = fresh }
        return fresh
    }

    // MARK: What the student sees

    /// Subjects with whether the phone is subscribed (seed: `mergeSubData`), and whether they are muted.
    public static func merge(
        _ subjects: [(names: [String], subject: InformationCube.Subject)], subscribed: Set<String>, muted: Set<String> = []
    ) -> [Subject] {
        subjects.map { names, subject in
            let isSubscribed = subscribed.contains(subject.topicKey)
            return Subject(
                names: names, subject: subject, isSubscribed: isSubscribed,
                isMuted: isSubscribed && subject.level != .forced && muted.contains(subject.topicKey))
        }
    }

    /// Only the subjects to which the phone is subscribed (seed: `mergeMySubData`).
    public static func mergeMine(
        _ subjects: [(names: [String], subject: InformationCube.Subject)], subscribed: Set<String>
    ) -> [Subject] {
        merge(subjects, subscribed: subscribed).filter(\.isSubscribed)
    }

    /// All subjects of the last look at the cube with whether the phone is subscribed, without a network.
    public func all() async throws -> [Subject] {
        let topics = try await memory.all()
        return Self.merge(
            try await knownCube()?.subjects ?? [], subscribed: Self.subscribed(topics),
            muted: Set(topics.filter(\.isMuted).map(\.topicKey)))
    }

    /// Whether the phone is subscribed to a topic (seed: `checkIfSubscribed`).
    public func isSubscribed(_ topicKey: String) async throws -> Bool {
        try await subscribedTopics().contains(topicKey)
    }

    /// The names and the level of a topic, and whether the phone is subscribed to it; placeholders for an unknown one
    /// (seed: `getSubscriptionInfo`). It needs no network.
    public func info(_ topicKey: String) async throws -> Info {
        guard let found = try await knownCube()?.subjects.first(where: { $0.subject.topicKey == topicKey }) else {
            return .placeholder
        }
        return Info(
            channel: found.names[0], area: found.names[1], subject: found.names[2], level: found.subject.level,
            subscribed: try await isSubscribed(topicKey))
    }

    /// The topics to which the phone is subscribed, or is about to be: a choice that was made offline counts at once.
    public func subscribedTopics() async throws -> Set<String> {
        Self.subscribed(try await memory.all())
    }

    private static func subscribed(_ topics: [SubscriptionPlan.Known]) -> Set<String> {
        Set(
            topics.filter { topic in
                topic.isPresent
                    && (topic.isSubscribed ? topic.choice != .left || topic.level == .forced : topic.choice == .joined)
            }.map(\.topicKey))
    }

    // MARK: Changes

    /// Subscribes to a subject because the student wants it. If FCM cannot be reached, the next look at the cube does it.
    ///
    /// - Throws: The error of the push service.
    public func subscribe(_ topicKey: String) async throws {
        try await memory.choose(topicKey, .joined)
        try await change(topicKey, isSubscribed: true)
    }

    /// Leaves a subject because the student wants it. If FCM cannot be reached, the next look at the cube does it.
    ///
    /// - Throws: ``ForcedSubject``, or the error of the push service.
    public func unsubscribe(_ topicKey: String) async throws {
        guard try await info(topicKey).level != .forced else { throw ForcedSubject(topicKey: topicKey) }
        try await memory.choose(topicKey, .left)
        try await change(topicKey, isSubscribed: false)
    }

    /// Mutes a subject, or ends that. The phone leaves the subject's topic at FCM, so that neither the system nor the app shows a pop-up,
    /// and fetches the messages from the hub at each look. If FCM cannot be reached, the next look does it.
    ///
    /// - Throws: ``ForcedSubject``, ``NotSubscribed``, or the error of the push service.
    public func mute(_ topicKey: String, _ isMuted: Bool = true) async throws {
        let info = try await info(topicKey)
        guard info.level != .forced else { throw ForcedSubject(topicKey: topicKey) }
        guard info.subscribed else { throw NotSubscribed(topicKey: topicKey) }
        try await memory.mute(topicKey, isMuted)
        try await change(topicKey, isSubscribed: !isMuted)
    }

    private func change(_ topicKey: String, isSubscribed: Bool) async throws {
        if isSubscribed {
            try await fcm.subscribe(topicKey)
        } else {
            try await fcm.unsubscribe(topicKey)
        }
        try await memory.confirm(topicKey, isSubscribed: isSubscribed)
    }

    /// Joins the topic of all phones, reads the cube, and joins and leaves topics accordingly. If FCM refuses a topic, the others are still
    /// processed.
    ///
    /// - Throws: ``HubFailure``, or the first error of the connection or of the push service. Completed steps are remembered, and the
    ///   next call continues after them.
    func follow() async throws {
        var changes = TopicChanges(clock: platform.clock)
        // It does not depend on the cube, which may be away.
        try await broadcastTopics.joinGeneral(&changes)
        let cube = try await readCube()
        let plan = SubscriptionPlan(
            subjects: cube.subjects.map { ($0.subject.topicKey, $0.subject.level) }, before: try await memory.all())
        try await memory.look(plan.known)
        for (topicKey, isSubscribed) in plan.leaves.map({ ($0, false) }) + plan.joins.map({ ($0, true) }) {
            await changes.attempt { try await change(topicKey, isSubscribed: isSubscribed) }
        }
        try await broadcastTopics.follow(try await subscribedChannels(), &changes)
        try changes.finish()
    }

    /// Takes over what FCM says about the phone's topics (seed, "View my subscriptions"). A lost answer of FCM does not last, and a
    /// phone whose registration FCM has replaced joins its topics again at the next look (``MobileApp/look()``).
    ///
    /// - Returns: Whether FCM says something else than the phone knew.
    /// - Throws: ``HubFailure``, or the error of the connection or of the push service.
    @discardableResult
    public func compare() async throws -> Bool {
        // Before FCM is asked: what the phone joins until the answer is newer than the answer.
        let known = try await memory.all()
        let joined = try await broadcastTopicsJoined()
        let actual = Set(try await fcm.subscribedTopics())
        let changed = known.filter { $0.isSubscribed != actual.contains($0.topicKey) }
        for topic in changed {
            try await memory.confirm(topic.topicKey, isSubscribed: actual.contains(topic.topicKey))
        }
        let unknown = actual.subtracting(known.map(\.topicKey)).filter { !BroadcastTopics.isOne($0) }
        for topicKey in unknown { try await memory.confirm(topicKey, isSubscribed: true) }
        let joinedNow = try await broadcastTopicsJoined()
        try await broadcastTopics.compare(
            actual.union(joinedNow.subtracting(joined)).subtracting(joined.subtracting(joinedNow)))
        return !changed.isEmpty || !unknown.isEmpty || joined != actual.filter(BroadcastTopics.isOne)
    }

    private func broadcastTopicsJoined() async throws -> Set<String> {
        try await database.db.read { db in try String.fetchSet(db, sql: "SELECT topic FROM BroadcastTopic") }
    }

    /// The topics that were joined and whose messages of the week are to be fetched.
    func weekPending() async throws -> Set<String> { try await memory.weekPending() }

    func weekFetched(_ topicKeys: Set<String>) async throws { try await memory.weekFetched(topicKeys) }
}

extension Subscriptions {
    /// The channels in which the phone is subscribed to a subject, sorted, so that phones with the same channels ask the same. The cube
    /// knows them: a subject that was moved keeps the topic key of the channel in which it was added.
    func subscribedChannels() async throws -> [String] {
        let subscribed = try await subscribedTopics()
        let channels = try await knownCube()?.channels ?? []
        return channels.filter { channel in
            channel.areas.contains { area in area.subjects.contains { subscribed.contains($0.topicKey) } }
        }.map(\.id).sorted()
    }
}
