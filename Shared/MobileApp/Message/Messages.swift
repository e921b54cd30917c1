import GRDB
import Schemas

/// The messages of the phone (seed module "Message"). Every function is one transaction.
public struct Messages: Sendable {
    private let database: AppDatabase
    private let clock: any DeviceClock
    /// Called after each message that was added.
    private let arrived: @Sendable (StoredMessage) -> Void
    private let receipts: Receipts
    private let refreshRequests: RefreshRequests

    /// How long the phone remembers what it has removed. FCM delivers a message up to four weeks late.
    private static let removedMemory: Int64 = 35 * 86_400_000
    /// How many days the app shows, today included (seed, "Clear Old Messages").
    private static let shownDays: Int64 = 7
    /// The time in milliseconds after which a text that the hub does not have is given up. The hub may learn of a message later than the
    /// phone.
    private static let hubDelay: Int64 = 3_600_000

    init(
        database: AppDatabase, clock: any DeviceClock, receipts: Receipts, refreshRequests: RefreshRequests,
        arrived: @escaping @Sendable (StoredMessage) -> Void = { _ in }
    ) {
        self.database = database
        self.clock = clock
        self.receipts = receipts
        self.refreshRequests = refreshRequests
        self.arrived = arrived
    }

    /// How a received message was stored.
    public enum Addition: Sendable {
        case added
        /// A text that the stored message lacked has come.
        case completed
        /// The phone has it, or had it and has removed it.
        case dropped
    }

    /// Stores a message, once (seed: `addMessage`).
    ///
    /// - Throws: `DatabaseError`.
    @discardableResult
    public func add(_ message: StoredMessage) async throws -> Addition {
        try await add(message, ifNew: true)
    }

    /// Stores a message that FCM did not bring, once. One that is older than what the app shows, or whose subject the student has
    /// left, only completes a message that the phone has.
    ///
    /// - Throws: `DatabaseError`.
    func addMissed(_ message: StoredMessage, isSubscribed: Bool) async throws -> Addition {
        try await add(message, ifNew: isSubscribed && message.timestamp >= firstShown)
    }

    /// Stores an Alert that waits for FCM, once, unless the student has left its subject. Its pop-up is pending, unless one was shown.
    ///
    /// - Throws: `DatabaseError`.
    func addWaiting(_ alert: StoredMessage, isSubscribed: Bool) async throws -> Addition {
        try await add(alert, ifNew: isSubscribed, withPopup: true)
    }

    /// Shows the pop-ups that are pending. If the app ends before, they are pending at its next start.
    ///
    /// - Throws: `DatabaseError`.
    func showPendingPopups(_ show: (StoredMessage) async -> Void) async throws {
        let pending = try await database.db.read { db in
            try Row.fetchAll(
                db.cachedStatement(
                    sql: Self.query + " WHERE Message.msi_key IN (SELECT msi_key FROM Popup WHERE pending) ORDER BY ID")
            ).map(StoredMessage.init)
        }
        for alert in pending {
            // The correction has taken its place.
            if alert.correctedBy == nil { await show(alert) }
            try await database.db.write { db in
                try db.cachedStatement(sql: "UPDATE Popup SET pending = FALSE WHERE msi_key = ?").execute(arguments: [
                    alert.msiKey
                ])
            }
        }
    }

    /// Removes Alerts that were recalled before FCM was known to have accepted them, whichever way they came and whether or not the student
    /// keeps them. A later copy, or a later pop-up, is dropped, and what one of them was to correct is no longer marked as corrected.
    ///
    /// - Returns: Those that the phone had.
    /// - Throws: `DatabaseError`.
    func removeRecalled(_ msiKeys: [String]) async throws -> [StoredMessage] {
        let now = clock.now
        return try await database.db.write { db in
            let present = try msiKeys.compactMap { try Self.find($0, db) }
            try Self.remove(present.map(\.msiKey), at: now, db)
            for key in msiKeys {
                for table in ["Removed", "Popup"] {
                    try db.cachedStatement(sql: "INSERT OR IGNORE INTO \(table) (msi_key, at) VALUES (?, ?)").execute(arguments: [
                        key, now,
                    ])
                }
                try db.cachedStatement(sql: "DELETE FROM Correction WHERE msi_key = ?").execute(arguments: [key])
            }
            return present
        }
    }

    /// The beginning of the first day that the app shows, in Unix milliseconds.
    private var firstShown: Int64 { clock.beginningOfDay(1 - Self.shownDays) }

    private func add(_ message: StoredMessage, ifNew: Bool, withPopup: Bool = false) async throws -> Addition {
        let addition = try await store(message, ifNew: ifNew, withPopup: withPopup)
        if addition == .added {
            receipts.requests.add(.soon)
            arrived(message)
        }
        return addition
    }

    private func store(_ message: StoredMessage, ifNew: Bool, withPopup: Bool) async throws -> Addition {
        let now = clock.now
        return try await database.db.write { db in
            // Before the correction is noted: it may have been recalled.
            if try Bool.fetchOne(
                db.cachedStatement(sql: "SELECT TRUE FROM Removed WHERE msi_key = ?"), arguments: [message.msiKey]) != nil
            {
                return .dropped
            }
            try Self.noteCorrection(message, at: now, db)
            if let present = try Self.find(message.msiKey, db) {
                guard !present.omitted.isEmpty, message.omitted.count < present.omitted.count else { return .dropped }
                try db.cachedStatement(sql: "UPDATE Message SET desc = ?, message = ? WHERE msi_key = ?").execute(arguments: [
                    message.desc, message.message, message.msiKey,
                ])
                try Self.mark(message.msiKey, "omitted", message.omitted.joined(separator: ","), db)
                return .completed
            }
            guard ifNew else { return .dropped }
            try Self.insert(message, db)
            try Receipts.note(.received, message.msiKey, at: now, db)
            if withPopup {
                // A copy of FCM's that comes later shows no pop-up of a muted subject either.
                let isPending = try !SubscriptionMemory.isMuted(message.topicKey, db)
                try db.cachedStatement(sql: "INSERT OR IGNORE INTO Popup (msi_key, at, pending) VALUES (?, ?, ?)").execute(
                    arguments: [message.msiKey, now, isPending])
            }
            return .added
        }
    }

    /// All messages, the newest first (seed: `getMessages`).
    ///
    /// - Parameter words: Only those whose title or texts have all of these words, by the rules of the archive's search.
    /// - Throws: `DatabaseError`.
    public func all(words: String = "") async throws -> [StoredMessage] {
        let messages = try await database.db.read { db in
            try Row.fetchAll(db.cachedStatement(sql: Self.query + " ORDER BY Message.timestamp DESC, ID DESC")).map(
                StoredMessage.init)
        }
        let words = words.searchFolded.split(whereSeparator: \.isWhitespace)
        return messages.filter { message in
            let text = [message.title, message.desc, message.message].joined(separator: "\n").searchFolded
            return words.allSatisfy(text.contains)
        }
    }

    /// Whether the phone has a message now (seed: `exists`).
    ///
    /// - Throws: `DatabaseError`.
    public func exists(_ msiKey: String) async throws -> Bool {
        try await database.db.read { db in try Self.find(msiKey, db) != nil }
    }

    /// Deletes a message (seed: `removeMessage`). If another copy arrives later, it is dropped.
    ///
    /// - Returns: The message, for ``restore(_:)``; `nil` if there was none.
    /// - Throws: `DatabaseError`.
    @discardableResult
    public func remove(_ msiKey: String) async throws -> StoredMessage? {
        let now = clock.now
        return try await database.db.write { db in
            guard let message = try Self.find(msiKey, db) else { return nil }
            try Self.remove([msiKey], at: now, db)
            return message
        }
    }

    /// Undoes a deletion. A text that the message lacks is fetched: the hub may have it by now.
    ///
    /// - Throws: `DatabaseError`.
    public func restore(_ message: StoredMessage) async throws {
        try await database.db.write { db in
            try db.cachedStatement(sql: "DELETE FROM Removed WHERE msi_key = ?").execute(arguments: [message.msiKey])
            guard try Self.find(message.msiKey, db) == nil else { return }
            try Self.insert(message, db)
        }
        if !message.omitted.isEmpty { refreshRequests.add(.now) }
    }

    /// The messages that lack a text which the hub may have.
    ///
    /// - Throws: `DatabaseError`.
    func incomplete() async throws -> [StoredMessage] {
        try await database.db.read { db in
            try Row.fetchAll(db.cachedStatement(sql: Self.query + " WHERE omitted <> '' AND NOT lost")).map(StoredMessage.init)
        }
    }

    /// The hub was asked for the whole week, and does not have the texts that these messages still lack.
    ///
    /// - Throws: `DatabaseError`.
    func markLost(_ messages: [StoredMessage]) async throws {
        let now = clock.now
        let old = messages.filter { $0.timestamp < now - Self.hubDelay }
        guard !old.isEmpty else { return }
        try await database.db.write { db in for message in old { try Self.mark(message.msiKey, "lost", true, db) } }
    }

    /// Deletes what is older than a week, counted from the end of the current day, except what the student keeps
    /// (seed: `clearOldMessages`). Later copies are dropped.
    ///
    /// - Returns: How many messages it deleted.
    /// - Throws: `DatabaseError`.
    @discardableResult
    public func clearOld() async throws -> Int {
        let now = clock.now
        let first = firstShown
        return try await database.db.write { db in
            let old = try String.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT msi_key FROM Message LEFT JOIN Mark USING (msi_key) WHERE timestamp < ? AND NOT COALESCE(kept, FALSE)
                        """), arguments: [first])
            try Self.remove(old, at: now, db)
            for condition in ["Removed WHERE", "Popup WHERE", "Receipt WHERE", "Correction WHERE \(Self.isUnused) AND"] {
                try db.cachedStatement(sql: "DELETE FROM \(condition) at < ?").execute(arguments: [now - Self.removedMemory])
            }
            return old.count
        }
    }

    /// Marks a message as one that the student keeps, or no longer keeps.
    ///
    /// - Throws: `DatabaseError`.
    public func keep(_ msiKey: String, _ isKept: Bool = true) async throws {
        try await database.db.write { db in try Self.mark(msiKey, "kept", isKept, db) }
    }

    /// Marks a message as read, or as unread.
    ///
    /// - Throws: `DatabaseError`.
    public func markRead(_ msiKey: String, _ isRead: Bool = true) async throws {
        let now = clock.now
        try await database.db.write { db in
            try Self.mark(msiKey, "read", isRead, db)
            if isRead { try Receipts.note(.opened, msiKey, at: now, db) }
        }
        if isRead { receipts.requests.add(.soon) }
    }

    /// Marks messages as read, or as unread, without their having been opened: nothing is reported.
    ///
    /// - Throws: `DatabaseError`.
    public func markRead(unopened msiKeys: [String], _ isRead: Bool) async throws {
        try await database.db.write { db in for key in msiKeys { try Self.mark(key, "read", isRead, db) } }
    }

    /// Remembers that the app shows the pop-up of a message.
    ///
    /// - Returns: Whether it is the first time, and the message has not been corrected: a correction takes its place.
    /// - Throws: `DatabaseError`.
    func beginPopup(_ msiKey: String) async throws -> Bool {
        let now = clock.now
        return try await database.db.write { db in
            let isCorrected = try Bool.fetchOne(
                db.cachedStatement(sql: "SELECT TRUE FROM Correction WHERE corrects = ? LIMIT 1"), arguments: [msiKey])
            guard isCorrected == nil else { return false }
            try db.cachedStatement(sql: "INSERT OR IGNORE INTO Popup (msi_key, at) VALUES (?, ?)").execute(arguments: [
                msiKey, now,
            ])
            return db.changesCount > 0
        }
    }

    /// Corrections of one message are all named by it, so the newest one corrects also the others.
    private static let query = """
        SELECT Message.*, kept, read, omitted, lost, link, own.corrects,
            (SELECT other.msi_key FROM Correction AS other
                WHERE other.corrects = COALESCE(own.corrects, Message.msi_key) AND other.msi_key <> Message.msi_key
                    AND (own.corrects IS NULL OR other.timestamp > Message.timestamp)
                ORDER BY other.timestamp DESC LIMIT 1) AS corrected_by
        FROM Message LEFT JOIN Mark USING (msi_key) LEFT JOIN Correction AS own USING (msi_key)
        """

    /// For a correction: the phone has neither the corrected message nor another correction of it.
    private static let isUnused = """
        corrects NOT IN (SELECT COALESCE(own.corrects, Message.msi_key) FROM Message LEFT JOIN Correction AS own USING (msi_key))
        """

    private static func noteCorrection(_ message: StoredMessage, at now: Int64, _ db: Database) throws {
        guard let corrects = message.corrects else { return }
        try db.cachedStatement(sql: "INSERT OR IGNORE INTO Correction (msi_key, corrects, timestamp, at) VALUES (?, ?, ?, ?)")
            .execute(arguments: [message.msiKey, corrects, message.timestamp, now])
    }

    private static func find(_ msiKey: String, _ db: Database) throws -> StoredMessage? {
        try Row.fetchOne(db.cachedStatement(sql: query + " WHERE Message.msi_key = ?"), arguments: [msiKey]).map(
            StoredMessage.init)
    }

    private static func insert(_ message: StoredMessage, _ db: Database) throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO Message (msi_key, topic_key, dist, title, desc, message, timestamp) VALUES (?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            message.msiKey, message.topicKey, message.dist, message.title, message.desc, message.message, message.timestamp,
        ])
        try db.cachedStatement(sql: "INSERT OR REPLACE INTO Mark (msi_key, kept, read, omitted, link) VALUES (?, ?, ?, ?, ?)")
            .execute(
                arguments: [
                    message.msiKey, message.isKept, message.isRead, message.omitted.joined(separator: ","), message.link,
                ])
    }

    private static func mark(_ msiKey: String, _ column: String, _ value: some DatabaseValueConvertible, _ db: Database) throws {
        try db.cachedStatement(sql: "UPDATE Mark SET \(column) = ? WHERE msi_key = ?").execute(arguments: [value, msiKey])
    }

    private static func remove(_ msiKeys: [String], at now: Int64, _ db: Database) throws {
        for key in msiKeys {
            try db.cachedStatement(sql: "DELETE FROM Message WHERE msi_key = ?").execute(arguments: [key])
            try db.cachedStatement(sql: "DELETE FROM Mark WHERE msi_key = ?").execute(arguments: [key])
            try db.cachedStatement(sql: "INSERT OR REPLACE INTO Removed (msi_key, at) VALUES (?, ?)").execute(arguments: [
                key, now,
            ])
        }
    }
}
