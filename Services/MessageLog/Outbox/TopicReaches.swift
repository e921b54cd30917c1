import Base
import Schemas
import Synchronization

/// How many phones topics reach, as far as the archive knows (``ReadReach``). The outbox asks before it hands over an Alert, so a number
/// serves for a minute.
final class TopicReaches: Sendable {
    private struct Known: Sendable {
        let phones: Int64
        let read: ContinuousClock.Instant
    }

    private struct State {
        var known: [TopicKey: Known] = [:]
        var reading: [TopicKey: Task<Void, Never>] = [:]
    }

    /// How long a number serves.
    static let validity = Duration.seconds(60)
    /// The maximum wait for the archive, whose readers searches may have taken. After that the last known number counts.
    static let maxWait = Duration.milliseconds(100)
    /// How many topics are read at a time. More would make people who read the history wait, or be refused, when Alerts of many topics are
    /// due. The reach of the others counts as unknown.
    static let maxReading = 8
    /// When there are this many, all are forgotten. They are then read again.
    private static let maxTopics = 10_000

    private let state = Mutex(State())
    private let read: @Sendable (TopicKey) async throws -> Int64

    init(read: @escaping @Sendable (TopicKey) async throws -> Int64) {
        self.read = read
    }

    /// The number of phones, 0 if it is unknown. It is also unknown while the archive cannot be read.
    ///
    /// - Parameter instant: The present.
    func phones(of topic: TopicKey, at instant: ContinuousClock.Instant = .now) async -> Int64 {
        let reading = state.withLock { state -> Task<Void, Never>? in
            if let known = state.known[topic], instant - known.read < Self.validity { return nil }
            if let reading = state.reading[topic] { return reading }
            guard state.reading.count < Self.maxReading else { return nil }
            let reading = Task { await self.readAgain(topic, at: instant) }
            state.reading[topic] = reading
            return reading
        }
        if let reading { _ = await reading.finishes(by: .now + Self.maxWait) }
        return state.withLock { $0.known[topic]?.phones ?? 0 }
    }

    private func readAgain(_ topic: TopicKey, at instant: ContinuousClock.Instant) async {
        if let phones = try? await read(topic) { keep(phones, of: topic, at: instant) }
        state.withLock { $0.reading[topic] = nil }
    }

    /// Keeps a number that was read for another purpose.
    func keep(_ phones: Int64, of topic: TopicKey, at instant: ContinuousClock.Instant = .now) {
        state.withLock { state in
            if state.known.count >= Self.maxTopics { state.known = [:] }
            state.known[topic] = Known(phones: phones, read: instant)
        }
    }
}
