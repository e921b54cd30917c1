import Store
import GRDB

/// The emulator's durable state: phones, their subscriptions and every accepted message.
///
/// A message is one row for any number of phones. Positions decide which phone gets it. A subscription covers the messages of its
/// topic from its first position to its last one. A phone has received everything up to its own position.
struct EmulatorStore: Sendable {
    let database: EmbeddedDatabase

    /// Opens the database, or creates it on the first start.
    ///
    /// - Throws: `CommandFailure` if the file cannot be used.
    init(path: String) throws {
        database = try EmbeddedDatabase(path: path, durability: .processCrash) { migrator in
            migrator.registerMigration("1: devices, subscriptions, messages") { try $0.execute(sql: Self.tables) }
        }
    }

    func close() throws {
        try database.close()
    }

    private static let tables = """
        CREATE TABLE device (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            token TEXT NOT NULL UNIQUE,
            -- The last position that counts as delivered.
            delivered INTEGER NOT NULL DEFAULT 0
        );
        CREATE TABLE subscription (
            device INTEGER NOT NULL REFERENCES device ON DELETE CASCADE,
            topic TEXT NOT NULL,
            -- It covers positions that are greater than the first and at most the second; without a second it has no end.
            after INTEGER NOT NULL,
            through INTEGER,
            -- Unix milliseconds.
            created INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (device, topic, after)
        ) WITHOUT ROWID;
        CREATE INDEX subscription_by_topic ON subscription (topic, device);
        CREATE TABLE message (
            position INTEGER PRIMARY KEY AUTOINCREMENT,
            name TEXT NOT NULL,
            -- Of a message to one topic; any other is addressed phone by phone.
            topic TEXT,
            -- Unix milliseconds.
            received INTEGER NOT NULL,
            expires INTEGER NOT NULL,
            -- The request's body as received.
            body BLOB NOT NULL,
            -- Of a message that may wait for a phone.
            collapse_key TEXT
        );
        CREATE INDEX message_by_topic ON message (topic, position) WHERE topic IS NOT NULL;
        CREATE INDEX message_to_devices ON message (position) WHERE topic IS NULL;
        CREATE TABLE addressed (
            device INTEGER NOT NULL REFERENCES device ON DELETE CASCADE,
            position INTEGER NOT NULL,
            PRIMARY KEY (device, position)
        ) WITHOUT ROWID;
        CREATE INDEX addressed_by_position ON addressed (position);
        CREATE TABLE archive (
            -- The list of accepted sends begins after this position.
            cleared INTEGER NOT NULL
        );
        INSERT INTO archive VALUES (0);
        CREATE TABLE counted (
            msi_key TEXT NOT NULL,
            component TEXT NOT NULL,
            -- How often it was accepted.
            sends INTEGER NOT NULL,
            PRIMARY KEY (msi_key, component)
        ) WITHOUT ROWID;
        -- Of sends without an msi_key.
        CREATE TABLE unkeyed (sends INTEGER NOT NULL);
        INSERT INTO unkeyed VALUES (0);
        """
}

extension Database {
    /// The position of the message that was accepted last; 0 before the first one.
    func lastPosition() throws -> Int64 {
        try Int64.fetchOne(cachedStatement(sql: "SELECT seq FROM sqlite_sequence WHERE name = 'message'")) ?? 0
    }

    /// The row id of a phone; `nil` for a token that is not registered.
    func device(withToken token: String) throws -> Int64? {
        try Int64.fetchOne(cachedStatement(sql: "SELECT id FROM device WHERE token = ?"), arguments: [token])
    }
}
