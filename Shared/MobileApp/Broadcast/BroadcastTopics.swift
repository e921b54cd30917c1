import GRDB

/// The topics by which broadcasts come: one of every phone, and one for each channel in which the phone is subscribed to a subject.
struct BroadcastTopics: Sendable {
    let fcm: FCMModule
    let database: AppDatabase

    /// The topic of every phone (seed 004).
    static let general = "general"

    /// A phone's topics: those of its subjects, and those of broadcasts.
    ///
    /// - Parameters:
    ///   - channels: The channels in which it is subscribed.
    ///   - off: The channels whose broadcasts are switched off.
    static func all(for topicKeys: Set<String>, in channels: [String], without off: Set<String>) -> Set<String> {
        topicKeys.union(channels).subtracting(off).union([general])
    }

    private static let offMemory = "broadcasts off"

    /// The channels whose broadcasts the student has switched off.
    static func off(_ db: Database) throws -> Set<String> {
        Set(try db.memory(offMemory)?.split(separator: "\n").map(String.init) ?? [])
    }

    static func set(_ channel: String, areOn: Bool, _ db: Database) throws {
        var off = try off(db)
        if areOn { off.remove(channel) } else { off.insert(channel) }
        try db.keep(off.isEmpty ? nil : off.sorted().joined(separator: "\n"), as: offMemory)
    }

    static func isOne(_ topic: String) -> Bool { topic == general || !topic.contains("-") }

    /// Joins the topic of every phone.
    ///
    /// - Throws: `DatabaseError`. Errors of the push service are kept in the changes.
    func joinGeneral(_ changes: inout TopicChanges) async throws {
        guard try await !joined().contains(Self.general) else { return }
        await join(Self.general, &changes)
    }

    /// Joins and leaves the topics of channels, as follows from the channels in which the phone is subscribed and from what is switched off.
    ///
    /// - Throws: `DatabaseError`. Errors of the push service are kept in the changes.
    func follow(_ channels: [String], _ changes: inout TopicChanges) async throws {
        let wanted = Set(channels).subtracting(try await database.db.read(Self.off))
        let joined = try await joined().subtracting([Self.general])
        for topic in wanted.subtracting(joined).sorted() { await join(topic, &changes) }
        for topic in joined.subtracting(wanted).sorted() {
            await changes.attempt {
                try await fcm.unsubscribe(topic)
                try await confirm(topic, isSubscribed: false)
            }
        }
    }

    private func join(_ topic: String, _ changes: inout TopicChanges) async {
        await changes.attempt {
            try await fcm.subscribe(topic)
            try await confirm(topic, isSubscribed: true)
        }
    }

    private func joined() async throws -> Set<String> {
        try await database.db.read { db in try String.fetchSet(db, sql: "SELECT topic FROM BroadcastTopic") }
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
