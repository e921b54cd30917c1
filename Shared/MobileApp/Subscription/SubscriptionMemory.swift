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
                    isSubscribed: row["subscribed"], choice: .init(rawValue: row["choice"]) ?? .none, isMuted: row["muted"])
            }
        }
    }

    /// Stores the levels of the cube that was read. What FCM has confirmed and what the student has chosen since then stays.
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

    /// Notes that FCM has confirmed a subscription or its end. After a subscription, the topic's messages of the last week are still to be
    /// fetched, whether it is muted or not.
    ///
    /// - Throws: `DatabaseError`.
    func confirm(_ topicKey: String, isSubscribed: Bool) async throws {
        try await database.db.write { db in
            try db.execute(
                sql: """
                    INSERT INTO Subscription (topic_key, level, present, subscribed, choice, week_pending)
                    VALUES (?1, '', FALSE, ?2, '', ?2)
                    ON CONFLICT (topic_key) DO UPDATE SET subscribed = excluded.subscribed,
                        week_pending = CASE WHEN excluded.subscribed THEN week_pending OR NOT subscribed
                            ELSE week_pending AND muted END
                    """,
                arguments: [topicKey, isSubscribed])
        }
    }

    /// The topics whose messages of the last week are still to be fetched.
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

    /// The student has decided. That ends what was muted.
    ///
    /// - Throws: `DatabaseError`.
    func choose(_ topicKey: String, _ choice: SubscriptionPlan.Choice) async throws {
        try await database.db.write { db in
            try db.execute(
                sql: """
                    INSERT INTO Subscription (topic_key, level, present, subscribed, choice) VALUES (?, '', TRUE, FALSE, ?)
                    ON CONFLICT (topic_key) DO UPDATE SET choice = excluded.choice, muted = FALSE
                    """,
                arguments: [topicKey, choice.rawValue])
        }
    }

    /// Notes that the student wants a topic's messages with or without pop-ups. If FCM has not confirmed the subscription yet, the messages
    /// of the last week are still to be fetched.
    ///
    /// - Throws: `DatabaseError`.
    func mute(_ topicKey: String, _ isMuted: Bool) async throws {
        try await database.db.write { db in
            try db.execute(
                sql: """
                    UPDATE Subscription SET choice = ?, muted = ?, week_pending = week_pending OR NOT (subscribed OR muted)
                    WHERE topic_key = ?
                    """,
                arguments: [SubscriptionPlan.Choice.joined.rawValue, isMuted, topicKey])
        }
    }

    /// Whether no pop-ups of a topic are shown.
    static func isMuted(_ topicKey: String, _ db: Database) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT TRUE FROM Subscription WHERE topic_key = ? AND muted AND level <> ?"),
            arguments: [topicKey, InformationCube.Level.forced.rawValue]) != nil
    }
}
