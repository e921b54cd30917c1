import GRDB

/// The topics by which broadcasts come: one of every phone, and one for each channel in which the phone is subscribed to a subject.
struct BroadcastTopics: Sendable {
    let fcm: FCMModule
    let database: AppDatabase

    /// The topic of every phone (seed 004).
    static let general = "general"

    /// The channels of topic keys, sorted, so that phones with the same channels ask the same.
    static func channels(of topicKeys: Set<String>) -> [String] {
        Set(topicKeys.map { String($0.prefix(24)) }).sorted()
    }

    /// A phone's topics: those of its subjects, and those of broadcasts.
    static func all(for topicKeys: Set<String>) -> Set<String> {
        topicKeys.union(channels(of: topicKeys)).union([general])
    }

    static func isOne(_ topic: String) -> Bool { topic == general || !topic.contains("-") }

    /// Joins and leaves what follows from the phone's subscriptions.
    ///
    /// - Throws: The error of the push service. What was done until then is remembered.
    func follow(_ topicKeys: Set<String>) async throws {
        let wanted = Set(Self.channels(of: topicKeys) + [Self.general])
        let joined = try await database.db.read { db in try Set(String.fetchAll(db, sql: "SELECT topic FROM BroadcastTopic")) }
        for topic in wanted.subtracting(joined).sorted() {
            try await fcm.subscribe(topic)
            try await confirm(topic, isSubscribed: true)
        }
        for topic in joined.subtracting(wanted).sorted() {
            try await fcm.unsubscribe(topic)
            try await confirm(topic, isSubscribed: false)
        }
    }

    /// Takes over what FCM says.
    func compare(_ actual: Set<String>) async throws {
        let joined = actual.filter(Self.isOne)
        try await database.db.write { db in
            try db.execute(sql: "DELETE FROM BroadcastTopic")
            for topic in joined { try db.execute(sql: "INSERT INTO BroadcastTopic (topic) VALUES (?)", arguments: [topic]) }
        }
    }

    private func confirm(_ topic: String, isSubscribed: Bool) async throws {
        try await database.db.write { db in
            if isSubscribed {
                try db.execute(sql: "INSERT OR IGNORE INTO BroadcastTopic (topic) VALUES (?)", arguments: [topic])
            } else {
                try db.execute(sql: "DELETE FROM BroadcastTopic WHERE topic = ?", arguments: [topic])
            }
        }
    }
}
