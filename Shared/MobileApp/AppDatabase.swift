import GRDB

/// The app's database (seed module "Database"): the seed's table, and beside it what the app remembers.
public struct AppDatabase: Sendable {
    /// The connection (seed: `db`).
    let db: DatabaseQueue

    /// Opens the database, and creates what is missing. The number of the steps that have made a file is the number of its format: a
    /// released step stays as it is, and changes are further steps.
    ///
    /// - Parameter path: The SQLite file; `nil` for a database in memory.
    /// - Throws: `DatabaseError`; with `SQLITE_SCHEMA` for a file of a format that this version does not know.
    public init(path: String?) throws {
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        db =
            try path.map { try DatabaseQueue(path: $0, configuration: configuration) }
            ?? DatabaseQueue(configuration: configuration)
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1: the seed's table, and what the app remembers") { db in
            try db.execute(sql: Self.messageTable)
            // Two tasks may receive the same message at once.
            try db.execute(sql: "CREATE UNIQUE INDEX message_msi_key ON Message (msi_key)")
            for tables in [Self.memoryTables, Self.correctionTable, Self.receiptTable, BroadcastMemory.tables] {
                try db.execute(sql: tables)
            }
        }
        let (isKnown, number) = try db.read { db in
            (try !migrator.hasBeenSuperseded(db), try migrator.appliedIdentifiers(db).count)
        }
        guard isKnown else {
            throw DatabaseError(
                resultCode: .SQLITE_SCHEMA,
                message: """
                    \(path ?? "the database") has the format \(number), which this version of the app does not know; the highest one \
                    that it knows is \(migrator.migrations.count)
                    """)
        }
        try migrator.migrate(db)
    }

    /// Deletes everything that the app has stored, as after a new installation. The app must not run during this.
    ///
    /// - Throws: `DatabaseError`.
    public func clear() async throws {
        try await db.write { db in
            let tables = try String.fetchAll(
                db,
                sql: """
                    SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT LIKE 'grdb%'
                    """)
            for table in tables { try db.execute(sql: "DELETE FROM \(table)") }
        }
    }

    /// The seed's SQL ("Table Creation SQL").
    private static let messageTable = """
        CREATE TABLE IF NOT EXISTS Message (
            ID INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
            msi_key VARCHAR(100),
            topic_key VARCHAR (100),
            dist VARCHAR (50),
            title VARCHAR(500),
            desc VARCHAR(500),
            message VARCHAR(1500),
            timestamp INTEGER
        )
        """

    /// It outlives the correction itself: the old text stays marked after the student has deleted the new one.
    private static let correctionTable = """
        CREATE TABLE Correction (
            msi_key TEXT NOT NULL PRIMARY KEY,
            corrects TEXT NOT NULL,
            timestamp INTEGER NOT NULL,
            at INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE INDEX correction_corrects ON Correction (corrects, timestamp);
        """

    /// It outlives the message: a receipt is given once.
    private static let receiptTable = """
        CREATE TABLE Receipt (
            msi_key TEXT NOT NULL,
            kind TEXT NOT NULL,
            at INTEGER NOT NULL,
            -- The number of the report that has it; absent before it is sent for the first time.
            report INTEGER,
            sent BOOLEAN NOT NULL DEFAULT FALSE,
            PRIMARY KEY (msi_key, kind)
        ) WITHOUT ROWID;
        CREATE INDEX receipt_waiting ON Receipt (report) WHERE NOT sent;
        """

    private static let memoryTables = """
        -- What the student has marked, and which texts a message still lacks.
        CREATE TABLE Mark (
            msi_key TEXT NOT NULL PRIMARY KEY,
            kept BOOLEAN NOT NULL DEFAULT FALSE,
            read BOOLEAN NOT NULL DEFAULT FALSE,
            omitted TEXT NOT NULL DEFAULT '',
            -- Whether the hub no longer has the omitted texts.
            lost BOOLEAN NOT NULL DEFAULT FALSE,
            -- The address that the message leads to.
            link TEXT
        ) WITHOUT ROWID;
        -- Messages that were deleted or cleared. A later copy of one is dropped.
        CREATE TABLE Removed (msi_key TEXT NOT NULL PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID;
        -- Pop-ups that the app has shown itself. A later copy of one is dropped.
        CREATE TABLE Popup (
            msi_key TEXT NOT NULL PRIMARY KEY,
            at INTEGER NOT NULL,
            -- Whether the app has yet to show it.
            pending BOOLEAN NOT NULL DEFAULT FALSE
        ) WITHOUT ROWID;
        -- The topics that the phone knows from the cube.
        CREATE TABLE Subscription (
            topic_key TEXT NOT NULL PRIMARY KEY,
            level TEXT NOT NULL,
            present BOOLEAN NOT NULL,
            subscribed BOOLEAN NOT NULL,
            choice TEXT NOT NULL,
            -- Whether the week's messages of the topic are to be fetched, since the phone has joined it.
            week_pending BOOLEAN NOT NULL DEFAULT FALSE,
            -- Whether the student wants the topic's messages without pop-ups.
            muted BOOLEAN NOT NULL DEFAULT FALSE
        ) WITHOUT ROWID;
        -- Small things: the last cube, the position in the hub's messages.
        CREATE TABLE Memory (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
        """
}

extension Database {
    /// The random id of this installation, of 24 hexadecimal digits. It is made once, and names no person.
    func installation() throws -> String {
        let name = "installation"
        if let known = try memory(name) { return known }
        let digits = Array("0123456789abcdef")
        let made = String((0..<24).map { _ in digits[Int.random(in: 0..<16)] })
        try keep(made, as: name)
        return made
    }

    /// What the app has kept under a name.
    func memory(_ name: String) throws -> String? {
        try String.fetchOne(self.cachedStatement(sql: "SELECT value FROM Memory WHERE name = ?"), arguments: [name])
    }

    /// - Parameter value: `nil` to forget it.
    func keep(_ value: String?, as name: String) throws {
        if let value {
            try execute(sql: "INSERT OR REPLACE INTO Memory (name, value) VALUES (?, ?)", arguments: [name, value])
        } else {
            try execute(sql: "DELETE FROM Memory WHERE name = ?", arguments: [name])
        }
    }
}
