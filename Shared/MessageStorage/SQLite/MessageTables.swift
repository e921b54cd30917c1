import EmbeddedDatabase
import GRDB
import Schemas

/// The archive's tables: `message`, whose primary key is in the order of time, and `messageText`, the full-text index. The outbox
/// consists of the rows of `message` with a next attempt.
enum MessageTables {
    static func register(in migrator: inout DatabaseMigrator) {
        migrator.registerMigration("message") { database in
            try database.create(table: MessageRow.databaseTableName) { table in
                table.autoIncrementedPrimaryKey("position")
                table.column("id", .text).notNull()
                table.column("msiKey", .text).notNull().unique()
                table.column("title", .text).notNull()
                table.column("desc", .text).notNull()
                table.column("message", .text).notNull()
                table.column("topicKey", .text).notNull()
                table.column("distribution", .text).notNull()
                table.column("sender", .text).notNull()
                table.column("timestamp", .integer).notNull()
                table.column("names", .jsonText).notNull()
                table.column("expires", .integer).notNull()
                table.column("idempotencyKey", .text)
                table.column("state", .text).notNull()
                table.column("attempts", .integer).notNull()
                table.column("nextAttempt", .integer)
                table.column("leaseOwner", .text)
                table.column("leaseUntil", .integer)
                table.column("components", .jsonText).notNull()
            }
            try database.create(
                index: "messageByTime", on: MessageRow.databaseTableName, columns: ["timestamp", "msiKey"])
            try database.create(
                index: "messageByIdempotencyKey", on: MessageRow.databaseTableName, columns: ["sender", "idempotencyKey"],
                options: .unique, condition: Column("idempotencyKey") != nil)
            try database.create(
                index: "outbox", on: MessageRow.databaseTableName, columns: ["nextAttempt"],
                condition: Column("nextAttempt") != nil)
        }
        migrator.registerMigration("message.history") { database in
            try addHistory(to: database)
        }
        migrator.registerMigration("message.options") { database in
            try database.alter(table: MessageRow.databaseTableName) { $0.add(column: "options", .jsonText) }
        }
        migrator.registerMigration("message.expiry") { database in
            try database.create(
                index: "outboxByExpiry", on: MessageRow.databaseTableName, columns: ["expires"],
                condition: Column("nextAttempt") != nil)
        }
        migrator.registerMigration("message.followUps") { database in
            try database.alter(table: MessageRow.databaseTableName) { table in
                table.add(column: "delay", .integer)
                table.add(column: "drill", .boolean)
                table.add(column: "follows", .text)
                table.add(column: "template", .text)
                table.add(column: "templateValues", .jsonText)
                table.add(column: "approval", .boolean)
            }
            try database.create(
                index: "messageByFollows", on: MessageRow.databaseTableName, columns: ["follows"],
                condition: Column("follows") != nil)
        }
        migrator.registerMigration("message.statistics") { database in
            // They contain everything that statistics need.
            try database.create(
                index: "messageByTime", on: MessageRow.databaseTableName, columns: ["timestamp", "state", "topicKey"])
            try database.create(
                index: "messageByEnd", on: MessageRow.databaseTableName, columns: ["ended", "state", "topicKey"],
                condition: Column("ended") != nil)
        }
        migrator.registerMigration("message.acceptance") { database in
            try database.alter(table: MessageRow.databaseTableName) { $0.add(column: "accepted", .integer) }
            try database.create(
                index: "messageByAcceptance", on: MessageRow.databaseTableName, columns: ["accepted"],
                condition: Column("accepted") != nil)
            // Readers of a few topics pay for no other topic's messages.
            try database.create(
                index: "messageByTopicAndAcceptance", on: MessageRow.databaseTableName,
                columns: ["topicKey", "accepted", "msiKey"], condition: Column("accepted") != nil)
        }
        migrator.registerMigration("message.correction") { database in
            try database.alter(table: MessageRow.databaseTableName) { $0.add(column: "correction", .boolean) }
        }
        migrator.registerMigration("message.receipts") { database in
            try ReceiptTable.create(in: database)
            try ReceiptInstallationTable.create(in: database)
        }
        migrator.registerMigration("message.trace") { database in
            try database.alter(table: MessageRow.databaseTableName) { $0.add(column: "traceparent", .text) }
            try database.execute(
                sql: "CREATE INDEX messageByTrace ON message (\(traceID)) WHERE traceparent IS NOT NULL")
        }
        migrator.registerMigration("message.foldedWords") { database in
            try MessageText.createTable(in: database)
        }
        migrator.registerMigration("message.fetchedAlerts") { database in
            // Only what is still to be relayed, by topic: of many Alerts in an outage only the newest ones are read.
            try database.create(
                index: "waitingAlert", on: MessageRow.databaseTableName, columns: ["topicKey"],
                condition: Column("nextAttempt") != nil && Column("distribution") == Distribution.alert.rawValue)
            // Few: gateways ask for them several times a second.
            try database.create(
                index: "recalledAlert", on: MessageRow.databaseTableName, columns: ["ended"],
                condition: Column("state") == RelayState.recalled.rawValue
                    && Column("distribution") == Distribution.alert.rawValue)
        }
    }

    /// The trace id of a row, as its index has it.
    static let traceID = "substr(traceparent, 4, 32)"

    /// Adds the columns and indexes for scheduling, interventions, filters and searches.
    private static func addHistory(to database: Database) throws {
        try database.alter(table: MessageRow.databaseTableName) { table in
            table.add(column: "ttl", .integer)
            table.add(column: "sendAt", .integer)
            table.add(column: "trace", .jsonText)
            table.add(column: "ended", .integer)
            table.add(column: "channel", .text)
            table.add(column: "area", .text)
            table.add(column: "subject", .text)
        }
        try database.execute(
            sql: """
                UPDATE message SET
                    position = (timestamp << \(ArchivePosition.bitsWithinMillisecond)) + position % \(ArchivePosition.perMillisecond),
                    channel = substr(topicKey, 1, 24), area = substr(topicKey, 26, 24), subject = substr(topicKey, 51, 24),
                    nextAttempt = CASE WHEN nextAttempt < leaseUntil THEN leaseUntil ELSE nextAttempt END
                """)
        try database.drop(index: "messageByTime")
        try database.drop(index: "outbox")
        // By topic, so that each topic can have its share of a claim.
        try database.create(
            index: "outbox", on: MessageRow.databaseTableName, columns: ["distribution", "topicKey", "nextAttempt"],
            condition: Column("nextAttempt") != nil)
        // An index ends with the primary key, so its results are in the order of time.
        for column in ["channel", "area", "subject", "sender"] {
            try database.create(
                index: "messageBy" + column.prefix(1).uppercased() + column.dropFirst(), on: MessageRow.databaseTableName,
                columns: [column])
        }
        // Nearly all messages are relayed: they are found without an index.
        try database.create(
            index: "messageByState", on: MessageRow.databaseTableName, columns: ["state"],
            condition: Column("state") != RelayState.relayed.rawValue)
    }
}
