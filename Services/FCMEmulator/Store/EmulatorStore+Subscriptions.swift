import EmbeddedDatabase
import GRDB

extension EmulatorStore {
    /// What became of one token in a call that changes subscriptions.
    enum SubscriptionOutcome: Hashable, Sendable {
        /// Done, or there was nothing to do.
        case done(device: Int64)
        /// The token is not registered.
        case notFound
        case tooManyTopics
    }

    /// FCM's limit for one installation of an app.
    static let mostTopics = 2_000

    /// Subscribes phones to a topic, from the next message on.
    ///
    /// - Returns: One outcome a token, in order.
    func subscribe(_ tokens: [String], to topic: String) async throws -> [SubscriptionOutcome] {
        try await database.write { database in
            let position = try database.lastPosition()
            return try tokens.map { token in
                guard let device = try database.device(withToken: token) else { return .notFound }
                if try database.isSubscribed(device, to: topic) { return .done(device: device) }
                let count = try Int.fetchOne(
                    database, sql: "SELECT count(*) FROM subscription WHERE device = ? AND through IS NULL",
                    arguments: [device])
                guard count ?? 0 < Self.mostTopics else { return .tooManyTopics }
                try database.execute(
                    sql: "INSERT INTO subscription (device, topic, after) VALUES (?, ?, ?)",
                    arguments: [device, topic, position])
                return .done(device: device)
            }
        }
    }

    /// Ends phones' subscriptions to a topic. What was accepted before still reaches them.
    ///
    /// - Returns: One outcome a token, in order.
    func unsubscribe(_ tokens: [String], from topic: String) async throws -> [SubscriptionOutcome] {
        try await database.write { database in
            let position = try database.lastPosition()
            return try tokens.map { token in
                guard let device = try database.device(withToken: token) else { return .notFound }
                // One that covers no message leaves nothing behind.
                try database.execute(
                    sql: "DELETE FROM subscription WHERE device = ? AND topic = ? AND through IS NULL AND after = ?",
                    arguments: [device, topic, position])
                try database.execute(
                    sql: "UPDATE subscription SET through = ? WHERE device = ? AND topic = ? AND through IS NULL",
                    arguments: [position, device, topic])
                return .done(device: device)
            }
        }
    }
}

extension Database {
    fileprivate func isSubscribed(_ device: Int64, to topic: String) throws -> Bool {
        try Bool.fetchOne(
            cachedStatement(
                sql: "SELECT EXISTS (SELECT * FROM subscription WHERE device = ? AND topic = ? AND through IS NULL)"),
            arguments: [device, topic]) ?? false
    }
}
