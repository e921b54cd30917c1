import GRDB

/// The cube's tables. A row's `position` is the order of creation. Its `version` is the version of the last change of the row
/// itself. The `size` of the cube (``CubeSize``) is absent until the next change measures it.
enum CubeTables {
    static func register(in migrator: inout DatabaseMigrator) {
        migrator.registerMigration("cube") { database in
            try database.create(table: "cube") { table in
                table.primaryKey("id", .integer).check { $0 == 1 }
                table.column("version", .integer).notNull()
            }
            try database.execute(sql: "INSERT INTO cube (id, version) VALUES (1, 0)")

            try database.create(table: ChannelRow.databaseTableName) { table in
                table.autoIncrementedPrimaryKey("position")
                table.column("id", .text).notNull().unique()
                table.column("name", .text).notNull()
                table.column("desc", .text).notNull()
                table.column("access", .jsonText).notNull()
                table.column("version", .integer).notNull()
            }
            try database.create(table: AreaRow.databaseTableName) { table in
                table.autoIncrementedPrimaryKey("position")
                table.column("id", .text).notNull().unique()
                table.column("channelID", .text).notNull().indexed()
                    .references(ChannelRow.databaseTableName, column: "id", onDelete: .cascade)
                table.column("name", .text).notNull()
                table.column("desc", .text).notNull()
                table.column("access", .jsonText).notNull()
                table.column("version", .integer).notNull()
            }
            try database.create(table: SubjectRow.databaseTableName) { table in
                table.autoIncrementedPrimaryKey("position")
                table.column("id", .text).notNull().unique()
                table.column("areaID", .text).notNull().indexed()
                    .references(AreaRow.databaseTableName, column: "id", onDelete: .cascade)
                table.column("topicKey", .text).notNull().unique()
                table.column("name", .text).notNull()
                table.column("desc", .text).notNull()
                table.column("access", .jsonText).notNull()
                table.column("level", .text).notNull()
                table.column("distribution", .text).notNull()
                table.column("tags", .jsonText).notNull()
                table.column("version", .integer).notNull()
            }
        }
        migrator.registerMigration("size") { database in
            try database.alter(table: "cube") { $0.add(column: "size", .integer) }
        }
        migrator.registerMigration("approval") { database in
            try database.alter(table: SubjectRow.databaseTableName) { $0.add(column: "approval", .boolean) }
        }
        PendingAudit.register(in: &migrator)
    }
}
