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

    /// FCM has confirmed a subscription or its end. The week's messages of a topic that was joined are to be fetched.
    ///
    /// - Throws: `DatabaseError`.
    func confirm(_ topicKey: String, isSubscribed: Bool) async throws {
        try await database.db.write { db in
            try db.execute(
                sql: """
                    INSERT INTO Subscription (topic_key, level, present, subscribed, choice, week_pending)
                    VALUES (?1, '', FALSE, ?2, '', ?2)
                    ON CONFLICT (topic_key) DO UPDATE SET subscribed = excluded.subscribed,
                        week_pending = excluded.subscribed AND (week_pending OR NOT subscribed)
                    """,
                arguments: [topicKey, isSubscribed])
        }
    }

    /// The topics whose messages of the week are to be fetched.
    ///
    /// - Throws: `DatabaseError`.
    func weekPending() async throws -> Set<String> {
        try await database.db.read { db in
            try String.fetchSet(db, sql: "SELECT topic_key FROM Subscription WHERE week_pending")
        }
    }

    /// The week's messages of topics were fetched.
    ///
    /// - Throws: `DatabaseError`.
    func weekFetched(_ topicKeys: Set<String>) async throws {
        guard !topicKeys.isEmpty else { return }
        try await database.db.write { db in
            for topicKey in topicKeys {
                try db.execute(sql: "UPDATE Subscription SET week_pending = FALSE WHERE topic_key = ?", arguments: [topicKey])
            }
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
