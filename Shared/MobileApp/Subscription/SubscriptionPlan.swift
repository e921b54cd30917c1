/// Which topics the phone joins and leaves because of the cube. Pure.
///
/// | the subject | the phone |
/// |---|---|
/// | is new, and Forced or Recommended; or becomes so | joins |
/// | was left by the student | rejoins only if it becomes Forced |
/// | is Forced | cannot leave. If it no longer is Forced, an earlier choice to leave counts again |
/// | is muted, and not Forced | leaves: without FCM there is no pop-up, and the hub has the messages |
/// | is deleted | leaves, and remembers the student's choice for the case that it returns |
struct SubscriptionPlan: Hashable, Sendable {
    /// What the student has last decided.
    enum Choice: String, Sendable {
        case none = ""
        case joined
        case left
    }

    /// A topic that the phone knows.
    struct Known: Hashable, Sendable {
        let topicKey: String
        /// The level at the last look at the cube.
        var level: InformationCube.Level
        /// Whether it was in the cube then.
        var isPresent: Bool
        /// Whether FCM has confirmed the subscription.
        var isSubscribed: Bool
        var choice: Choice
        /// The student wants its messages without pop-ups.
        var isMuted = false
    }

    /// The topics as they are to be remembered, before anything was joined or left.
    private(set) var known: [Known] = []
    private(set) var joins: [String] = []
    private(set) var leaves: [String] = []

    /// - Parameters:
    ///   - subjects: The levels of all topics of the cube.
    ///   - before: What the phone knows.
    init(subjects: [(topicKey: String, level: InformationCube.Level)], before: [Known]) {
        var remaining = Dictionary(uniqueKeysWithValues: before.map { ($0.topicKey, $0) })
        for (topicKey, level) in subjects {
            let old = remaining.removeValue(forKey: topicKey)
            var topic = old ?? Known(topicKey: topicKey, level: .optional, isPresent: false, isSubscribed: false, choice: .none)
            let isWanted =
                switch level {
                case .forced: true
                case .recommended: topic.choice != .left
                // A phone that an earlier level has subscribed stays subscribed.
                case .optional: topic.choice == .joined || (topic.isSubscribed && topic.choice != .left)
                }
            topic.level = level
            topic.isPresent = true
            let isOfFCM = isWanted && (!topic.isMuted || level == .forced)
            if isOfFCM, !topic.isSubscribed { joins.append(topicKey) }
            if !isOfFCM, topic.isSubscribed { leaves.append(topicKey) }
            known.append(topic)
        }
        for var topic in remaining.values.sorted(by: { $0.topicKey < $1.topicKey }) {
            topic.isPresent = false
            if topic.isSubscribed { leaves.append(topic.topicKey) }
            known.append(topic)
        }
    }
}

/// Changes of the phone's topics at FCM, one after another. One that fails does not stop the others, unless FCM takes too long.
struct TopicChanges {
    private let clock: any DeviceClock
    /// The time that the changes have taken, in milliseconds.
    private var taken: Int64 = 0
    private var failure: (any Error)?
    private var isOver = false

    /// After this time in milliseconds, a failure ends the changes: FCM answers none.
    private static let limit: Int64 = 30_000

    init(clock: any DeviceClock) {
        self.clock = clock
    }

    /// Makes a change. Its error is kept for ``finish()``.
    mutating func attempt(_ change: () async throws -> Void) async {
        guard !isOver else { return }
        let begin = clock.now
        do {
            try await change()
            taken += clock.now - begin
        } catch {
            taken += clock.now - begin
            failure = failure ?? error
            isOver = Task.isCancelled || taken > Self.limit
        }
    }

    /// - Throws: The first error of the changes.
    func finish() throws {
        if let failure { throw failure }
    }
}
