import Store
import GRDB
import Schemas

/// The columns and indexes for Web Push, which earlier versions ignore: "Versions" in Shared/Store/README.md. While nothing is to be sent
/// by Web Push, the indexes are empty.
enum WebPushColumns {
    private static let column = "webpushAttempt"

    static func prepare(in database: Database) throws {
        let isOutstanding = Column(column) != nil
        for table in [MessageRow.tableName, PushRow.tableName] {
            if try database.columns(in: table).contains(where: { $0.name == column }) { continue }
            try database.alter(table: table) { $0.add(column: column, .integer) }
        }
        try database.create(
            index: "fanOutbox", on: MessageRow.tableName, columns: ["distribution", "topicKey", column], options: .ifNotExists,
            condition: isOutstanding)
        try database.create(
            index: "blockOutbox", on: PushRow.tableName, columns: ["urgency", "fairnessKey", column], options: .ifNotExists,
            condition: isOutstanding)
        try database.create(
            index: "blockOutboxByTime", on: PushRow.tableName, columns: ["urgency", column, "fairnessKey"], options: .ifNotExists,
            condition: isOutstanding)
        // A message to all has many, which are soon removed.
        try database.create(
            index: "endedBlock", on: PushRow.tableName, columns: ["ended"], options: .ifNotExists,
            condition: Column("transport") == PushTransport.webpush.rawValue && Column("nextAttempt") == nil)
    }
}

/// The archive's tables: `message`, whose primary key is in the order of time, and those of the full-text index (``MessageText``). The
/// outbox consists of the rows of `message` with a next attempt.
enum MessageTables {
    /// The SQL expression of a row's trace id; its index uses the same one.
    static let traceID = "substr(traceparent, 4, 32)"

    private static let table = MessageRow.tableName
    private static let isOutstanding = Column("nextAttempt") != nil

    static func create(in database: Database) throws {
        try database.create(table: table) { table in
            // Without AUTOINCREMENT, which would write the greatest position into a second table: each insertion chooses it.
            table.primaryKey("position", .integer)
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
            table.column("ttl", .integer)
            table.column("sendAt", .integer)
            table.column("trace", .jsonText)
            table.column("ended", .integer)
            table.column("channel", .text)
            table.column("area", .text)
            table.column("subject", .text)
            table.column("options", .jsonText)
            table.column("delay", .integer)
            table.column("drill", .boolean)
            table.column("follows", .text)
            table.column("template", .text)
            table.column("templateValues", .jsonText)
            table.column("approval", .boolean)
            table.column("accepted", .integer)
            table.column("correction", .boolean)
            table.column("traceparent", .text)
        }
        try createHistoryIndexes(in: database)
        try createOutboxIndexes(in: database)
        try createPhoneIndexes(in: database)
        try MessageText.createTables(in: database)
        try ReceiptTable.create(in: database)
        try ReceiptInstallationTable.create(in: database)
    }

    /// For pages, searches and statistics. An index ends with the primary key, so its results are in the order of time.
    private static func createHistoryIndexes(in database: Database) throws {
        for column in ["channel", "area", "subject", "sender"] {
            try database.create(
                index: "messageBy" + column.prefix(1).uppercased() + column.dropFirst(), on: table, columns: [column])
        }
        // Nearly all messages are relayed: they are found without an index.
        try database.create(
            index: "messageByState", on: table, columns: ["state"], condition: Column("state") != RelayState.relayed.rawValue)
        try database.create(
            index: "messageByFollows", on: table, columns: ["follows"], condition: Column("follows") != nil)
        try database.execute(sql: "CREATE INDEX messageByTrace ON message (\(traceID)) WHERE traceparent IS NOT NULL")
        // They contain everything that statistics need.
        try database.create(index: "messageByTime", on: table, columns: ["timestamp", "state", "topicKey"])
        try database.create(
            index: "messageByEnd", on: table, columns: ["ended", "state", "topicKey"], condition: Column("ended") != nil)
    }

    private static func createOutboxIndexes(in database: Database) throws {
        try database.create(
            index: "messageByIdempotencyKey", on: table, columns: ["sender", "idempotencyKey"], options: .unique,
            condition: Column("idempotencyKey") != nil)
        // By topic, so that each topic can have its share of a claim.
        try database.create(
            index: "outbox", on: table, columns: ["distribution", "topicKey", "nextAttempt"], condition: isOutstanding)
        try database.create(index: "outboxByExpiry", on: table, columns: ["expires"], condition: isOutstanding)
    }

    /// For what phones fetch.
    private static func createPhoneIndexes(in database: Database) throws {
        try database.create(
            index: "messageByAcceptance", on: table, columns: ["accepted"], condition: Column("accepted") != nil)
        // Readers of a few topics pay for no other topic's messages.
        try database.create(
            index: "messageByTopicAndAcceptance", on: table, columns: ["topicKey", "accepted", "msiKey"],
            condition: Column("accepted") != nil)
        let isAlert = Column("distribution") == Distribution.alert.rawValue
        // Only what is still to be relayed, by topic: of many Alerts in an outage only the newest ones are read.
        try database.create(index: "waitingAlert", on: table, columns: ["topicKey"], condition: isOutstanding && isAlert)
        // Few: gateways ask for them several times a second.
        try database.create(
            index: "recalledAlert", on: table, columns: ["ended"],
            condition: Column("state") == RelayState.recalled.rawValue && isAlert)
    }
}
