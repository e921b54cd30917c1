import Schemas
import Synchronization

/// How many running apps ask for the messages of each topic: an app asks about once a minute. It is not recorded who asks.
final class RunningApps: Sendable {
    /// The requests of the present and the previous minute. Pure.
    struct Counts: Sendable {
        private var began: ContinuousClock.Instant
        private var current: [TopicKey: Int] = [:]
        /// The requests of the previous minute.
        private var previous: [TopicKey: Int] = [:]
        private let maxTopics: Int

        private static let period = Duration.seconds(60)

        /// - Parameter maxTopics: Further topics of a minute are not counted, since anyone can invent topics.
        init(from began: ContinuousClock.Instant, maxTopics: Int = 20_000) {
            self.began = began
            self.maxTopics = maxTopics
        }

        mutating func add(_ topics: [TopicKey], at now: ContinuousClock.Instant) {
            advance(to: now)
            // A request that names a topic twice counts once.
            for topic in Set(topics) {
                if let count = current[topic] {
                    current[topic] = count + 1
                } else if current.count < maxTopics {
                    current[topic] = 1
                }
            }
        }

        /// The requests for a topic in a minute.
        mutating func count(of topic: TopicKey, at now: ContinuousClock.Instant) -> Int {
            advance(to: now)
            return max(previous[topic] ?? 0, current[topic] ?? 0)
        }

        private mutating func advance(to now: ContinuousClock.Instant) {
            let elapsed = now - began
            guard elapsed >= Self.period else { return }
            previous = elapsed < Self.period * 2 ? current : [:]
            current = [:]
            began = now
        }
    }

    private let counts = Mutex(Counts(from: .now))

    /// An app has asked for the messages of its topics.
    func asked(for topics: [TopicKey]) {
        counts.withLock { $0.add(topics, at: .now) }
    }

    /// About how many apps with a topic are running and ask this gateway.
    func count(of topic: TopicKey) -> Int {
        counts.withLock { $0.count(of: topic, at: .now) }
    }
}
