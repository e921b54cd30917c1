import FoundationEssentials
import GRDB
import Base
import Schemas

/// The broadcasts that the phone knows, by id.
enum BroadcastMemory {
    /// The tables.
    static let tables = """
        CREATE TABLE Broadcast (
            id INTEGER NOT NULL PRIMARY KEY,
            version INTEGER NOT NULL,
            -- The JSON as the hub has it; absent for one that was withdrawn.
            document TEXT,
            expires INTEGER NOT NULL,
            closed BOOLEAN NOT NULL DEFAULT FALSE,
            -- Whether only its pop-up has come, which has one language. The whole broadcast replaces it.
            partial BOOLEAN NOT NULL DEFAULT FALSE
        );
        -- Those of the app that do not come again: the student has closed them, or a run of the app has shown them.
        CREATE TABLE ClosedBroadcast (id INTEGER NOT NULL PRIMARY KEY);
        -- The topics by which broadcasts come, and whether FCM has confirmed them.
        CREATE TABLE BroadcastTopic (topic TEXT NOT NULL PRIMARY KEY) WITHOUT ROWID;
        """

    /// What has expired is remembered for as long as FCM delivers late.
    private static let memory: Int64 = 35 * 86_400_000

    /// What a version was to the phone that takes it over.
    enum Addition {
        /// The phone had an earlier version, or none.
        case new
        /// The phone had its pop-up.
        case completed
        case known
    }

    /// Stores a version. An expired one does as well: it replaces an earlier one that lasts longer, and the phone's clock may be ahead.
    ///
    /// - Parameter isPartial: Whether it is that of a pop-up.
    static func add(_ broadcast: PhoneBroadcast, isPartial: Bool, _ db: Database) throws -> Addition {
        let json = String(decoding: try JSONCoder.encode(broadcast), as: UTF8.self)
        if !isPartial {
            // One that the student has closed stays closed.
            try db.cachedStatement(
                sql: "UPDATE Broadcast SET document = ?, expires = ?, partial = FALSE WHERE id = ? AND version = ? AND partial"
            ).execute(arguments: [json, broadcast.expires.rawValue, broadcast.id, broadcast.version])
            if db.changesCount > 0 { return .completed }
        }
        let isNew = try replace(
            broadcast.id, broadcast.version, json, expires: broadcast.expires.rawValue, isPartial: isPartial, db)
        return isNew ? .new : .known
    }

    /// Removes every version up to the named one.
    ///
    /// - Returns: Whether the phone has shown, or could have shown, one of them.
    static func withdraw(_ withdrawn: WithdrawnBroadcast, _ db: Database) throws -> Bool {
        let known = try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT document IS NOT NULL FROM Broadcast WHERE id = ? AND version <= ?"),
            arguments: [withdrawn.id, withdrawn.version])
        // A version that is known to be over stays over: the same withdrawal comes with each look.
        let sql = "SELECT TRUE FROM Broadcast WHERE id = ? AND version = ? AND document IS NULL"
        let isKnown = try Bool.fetchOne(db.cachedStatement(sql: sql), arguments: [withdrawn.id, withdrawn.version])
        guard isKnown == nil else { return false }
        _ = try replace(withdrawn.id, withdrawn.version, nil, expires: withdrawn.expires.rawValue, orSame: true, db)
        return known ?? false
    }

    private static func replace(
        _ id: Int64, _ version: Int64, _ json: String?, expires: Int64, isPartial: Bool = false, orSame: Bool = false,
        _ db: Database
    ) throws -> Bool {
        try db.cachedStatement(
            sql: """
                INSERT INTO Broadcast (id, version, document, expires, partial) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (id) DO UPDATE SET
                    version = excluded.version, document = excluded.document, expires = excluded.expires, closed = FALSE,
                    partial = excluded.partial
                WHERE excluded.version > Broadcast.version OR (? AND excluded.version = Broadcast.version)
                """
        ).execute(arguments: [id, version, json, expires, isPartial, orSame])
        return db.changesCount > 0
    }

    /// Those that have not expired at a time, with whether the student has closed them.
    static func current(at now: Int64, _ db: Database) throws -> [(broadcast: PhoneBroadcast, isClosed: Bool)] {
        let sql = "SELECT document, closed FROM Broadcast WHERE document IS NOT NULL AND expires > ? ORDER BY id"
        return try Row.fetchAll(db.cachedStatement(sql: sql), arguments: [now]).compactMap { row in
            // Another version of the app may have written it.
            guard let broadcast: PhoneBroadcast = try? JSONCoder.decode(from: Data((row["document"] as String).utf8)) else {
                return nil
            }
            return (broadcast, row["closed"])
        }
    }

    /// What the phone knows of a broadcast, even of one that is over.
    struct Known {
        let version: Int64
        /// `nil` for one that was withdrawn, or that this version of the app cannot read.
        let broadcast: PhoneBroadcast?
        let isWithdrawn: Bool
        let isClosed: Bool
        /// Unix milliseconds.
        let expires: Int64
    }

    /// - Returns: `nil` if the phone does not know it.
    static func known(_ id: Int64, _ db: Database) throws -> Known? {
        let sql = "SELECT version, document, expires, closed FROM Broadcast WHERE id = ?"
        return try Row.fetchOne(db.cachedStatement(sql: sql), arguments: [id]).map { row in
            let document: String? = row["document"]
            return Known(
                version: row["version"],
                broadcast: document.flatMap { text -> PhoneBroadcast? in try? JSONCoder.decode(from: Data(text.utf8)) },
                isWithdrawn: document == nil, isClosed: row["closed"], expires: row["expires"])
        }
    }

    /// Closes a version of a broadcast of the hub. Another version stays as it is.
    static func close(_ id: Int64, version: Int64, _ db: Database) throws {
        try db.execute(sql: "UPDATE Broadcast SET closed = TRUE WHERE id = ? AND version = ?", arguments: [id, version])
    }

    /// A broadcast of the app does not come again.
    ///
    /// - Returns: Whether this was not known.
    static func closeLocal(_ id: Int64, _ db: Database) throws -> Bool {
        try db.execute(sql: "INSERT OR IGNORE INTO ClosedBroadcast (id) VALUES (?)", arguments: [id])
        return db.changesCount > 0
    }

    /// The broadcasts of the app that do not come again.
    static func closedLocal(_ db: Database) throws -> Set<Int64> {
        try Int64.fetchSet(db, sql: "SELECT id FROM ClosedBroadcast")
    }

    /// - Returns: Whether any was removed.
    static func clearOld(at now: Int64, _ db: Database) throws -> Bool {
        try db.execute(sql: "DELETE FROM Broadcast WHERE expires < ?", arguments: [now - memory])
        return db.changesCount > 0
    }
}
