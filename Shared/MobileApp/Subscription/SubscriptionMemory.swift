import GRDB

/// What the phone remembers of topics.
struct SubscriptionMemory: Sendable {
    let database: AppDatabase

    private typealias Known = SubscriptionPlan.Known

    /// - Throws: `DatabaseError`.
    func all() async throws -> [SubscriptionPlan.Known] {
        try await database.db.read { db in
            try Row.fetchAll(db, sql: "SELECT * FROM Subscription ORDER BY topic_key").map { row in
                Known(
                    topicKey: row["topic_key"], level: .init(rawValue: row["level"]) ?? .optional, isPresent: row["present"],
                    isSubscribed: row["subscribed"], choice: .init(rawValue: row["choice"]) ?? .none)
            }
        }
    }

    /// Takes over the levels of a look at the cube. What FCM has confirmed and what the student has chosen meanwhile stays.
    ///
    /// - Throws: `DatabaseError`.
    func look(_ known: [SubscriptionPlan.Known]) async throws {
        try await database.db.write { db in
            for topic in known {
                try db.execute(
                    sql: """
                        INSERT INTO Subscription (topic_key, level, present, subscribed, choice) VALUES (?, ?, ?, FALSE, '')
                        ON CONFLICT (topic_key) DO UPDATE SET level = excluded.level, present = excluded.present
                        """,
                    arguments: [topic.topicKey, topic.level.rawValue, topic.isPresent])
            }
        }
    }

    /// FCM has confirmed a subscription or its end.
    ///
    /// - Throws: `DatabaseError`.
    func confirm(_ topicKey: String, isSubscribed: Bool) async throws {
        try await database.db.write { db in
            try db.execute(
                sql: """
                    INSERT INTO Subscription (topic_key, level, present, subscribed, choice) VALUES (?, '', FALSE, ?, '')
                    ON CONFLICT (topic_key) DO UPDATE SET subscribed = excluded.subscribed
                    """,
                arguments: [topicKey, isSubscribed])
        }
    }

    /// The student has decided.
    ///
    /// - Throws: `DatabaseError`.
    func choose(_ topicKey: String, _ choice: SubscriptionPlan.Choice) async throws {
        try await database.db.write { db in
            try db.execute(
                sql: """
                    INSERT INTO Subscription (topic_key, level, present, subscribed, choice) VALUES (?, '', TRUE, FALSE, ?)
                    ON CONFLICT (topic_key) DO UPDATE SET choice = excluded.choice
                    """,
                arguments: [topicKey, choice.rawValue])
        }
    }
}
