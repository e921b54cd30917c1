import GRDB

/// The archive's table. The outbox is the part of it whose state is not final: a partial index makes it cheap to find.
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
    }
}
