import EmbeddedDatabase
import GRDB
import Schemas

extension EmulatorStore {
    /// The result for one registration of a call that changes subscriptions.
    enum SubscriptionOutcome: Hashable, Sendable {
        /// The subscription is as requested, even if nothing had to change.
        case done(device: Int64)
        /// The phone is not registered.
        case notFound
        case tooManyTopics
    }

    /// A phone's subscription to a topic.
    struct Subscription: Hashable, Sendable {
        let topic: String
        /// When it began.
        let created: UnixMilliseconds
    }

    /// FCM's limit for one installation of an app.
    static let maxTopics = 2_000

    /// Subscribes phones to a topic, starting with the next message.
    ///
    /// - Returns: One outcome for each token, in order.
    func subscribe(_ tokens: [String], to topic: String, now: UnixMilliseconds) async throws -> [SubscriptionOutcome] {
        try await database.write { database in
            try tokens.map { token in
                guard let device = try database.device(withToken: token) else { return .notFound }
                return try database.subscribe(device, to: topic, now: now) ? .done(device: device) : .tooManyTopics
            }
        }
    }

    /// Ends phones' subscriptions to a topic. Messages that were accepted before still reach them.
    ///
    /// - Returns: One outcome for each token, in order.
    func unsubscribe(_ tokens: [String], from topic: String) async throws -> [SubscriptionOutcome] {
        try await database.write { database in
            try tokens.map { token in
                guard let device = try database.device(withToken: token) else { return .notFound }
                try database.unsubscribe(device, from: topic)
                return .done(device: device)
            }
        }
    }
}

extension Database {
    /// The current subscription of a phone to a topic.
    func subscription(of device: Int64, to topic: String) throws -> EmulatorStore.Subscription? {
        let created = try UnixMilliseconds.fetchOne(
            cachedStatement(sql: "SELECT created FROM subscription WHERE device = ? AND topic = ? AND through IS NULL"),
            arguments: [device, topic])
        return created.map { .init(topic: topic, created: $0) }
    }

    /// Subscribes a phone, if it is not subscribed.
    ///
    /// - Returns: `false` if it has too many subscriptions.
    func subscribe(_ device: Int64, to topic: String, now: UnixMilliseconds) throws -> Bool {
        if try subscription(of: device, to: topic) != nil { return true }
        let count = try Int.fetchOne(
            cachedStatement(sql: "SELECT count(*) FROM subscription WHERE device = ? AND through IS NULL"), arguments: [device])
        guard count ?? 0 < EmulatorStore.maxTopics else { return false }
        let statement = try cachedStatement(sql: "INSERT INTO subscription (device, topic, after, created) VALUES (?, ?, ?, ?)")
        try statement.execute(arguments: [device, topic, lastPosition(), now])
        return true
    }

    func unsubscribe(_ device: Int64, from topic: String) throws {
        let position = try lastPosition()
        // A subscription that covers no message is deleted.
        try execute(
            sql: "DELETE FROM subscription WHERE device = ? AND topic = ? AND through IS NULL AND after = ?",
            arguments: [device, topic, position])
        try execute(
            sql: "UPDATE subscription SET through = ? WHERE device = ? AND topic = ? AND through IS NULL",
            arguments: [position, device, topic])
    }
}
