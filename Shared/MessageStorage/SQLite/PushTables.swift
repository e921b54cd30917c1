import EmbeddedDatabase
import GRDB

/// The table `push`: the pushes of other services, with an outbox of the same form as that of messages.
enum PushTables {
    static func register(in migrator: inout DatabaseMigrator) {
        migrator.registerMigration("push") { database in
            try database.create(table: PushRow.databaseTableName) { table in
                table.column("pushID", .text).notNull().primaryKey()
                table.column("sender", .text).notNull()
                table.column("idempotencyKey", .text).notNull()
                table.column("transport", .text).notNull()
                table.column("fairnessKey", .text).notNull()
                table.column("urgency", .text).notNull()
                table.column("message", .jsonText).notNull()
                table.column("project", .text)
                table.column("logged", .integer).notNull()
                table.column("expires", .integer).notNull()
                table.column("notBefore", .integer)
                table.column("state", .text).notNull()
                table.column("attempts", .integer).notNull()
                table.column("nextAttempt", .integer)
                table.column("leaseOwner", .text)
                table.column("leaseUntil", .integer)
                table.column("ended", .integer)
                table.column("recipients", .jsonText).notNull()
                table.column("trace", .jsonText)
            }
            let table = PushRow.databaseTableName
            try database.create(
                index: "pushByIdempotencyKey", on: table, columns: ["sender", "idempotencyKey"], options: .unique)
            try database.create(index: "pushByTime", on: table, columns: ["logged"])
            try database.create(
                index: "pushOutbox", on: table, columns: ["urgency", "fairnessKey", "nextAttempt"],
                condition: Column("nextAttempt") != nil)
            try database.create(
                index: "pushOutboxByExpiry", on: table, columns: ["expires"], condition: Column("nextAttempt") != nil)
        }
        migrator.registerMigration("push.dueByTime") { database in
            try database.create(
                index: "pushOutboxByTime", on: PushRow.databaseTableName, columns: ["urgency", "nextAttempt", "fairnessKey"],
                condition: Column("nextAttempt") != nil)
        }
        migrator.registerMigration("push.trace") { database in
            try database.alter(table: PushRow.databaseTableName) { $0.add(column: "traceparent", .text) }
        }
    }
}
