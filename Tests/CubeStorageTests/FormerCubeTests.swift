import EmbeddedDatabase
import GRDB
import Schemas
import TestSupport
import Testing

@testable import CubeStorage

/// A cube in SQLite of a version before the approval and the audit log.
@Suite("Cube of a former version", .timeLimit(.minutes(10)))
struct FormerCubeTests {
    @Test("Its objects are read, sorted and changed, and each change is recorded")
    func former() async throws {
        try await withCubePlace(.sqlite) { place in
            let topic = TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())
            let path = place.folder + "/cube.sqlite"
            let file = try DatabaseQueue(path: path)
            var migrator = DatabaseMigrator()
            CubeTables.register(in: &migrator)
            try migrator.migrate(file, upTo: "size")
            try await file.write { database in
                try database.execute(
                    sql: "INSERT INTO channel (id, name, desc, access, version) VALUES (?, 'C', '', '[]', 1)",
                    arguments: [topic.channel])
                try database.execute(
                    sql: "INSERT INTO area (id, channelID, name, desc, access, version) VALUES (?, ?, 'A', '', '[]', 2)",
                    arguments: [topic.area, topic.channel])
                try database.execute(
                    sql: """
                        INSERT INTO subject (id, areaID, topicKey, name, desc, access, level, distribution, tags, version)
                        VALUES (?, ?, ?, 'S', '', '["ann"]', 'Forced', 'Alert', '[]', 3)
                        """,
                    arguments: [topic.subject, topic.area, topic.description])
                try database.execute(sql: "UPDATE cube SET version = 3")
            }
            try file.close()

            let store = try await place.open()
            let snapshot = try await store.snapshot()
            #expect(snapshot.version == 3 && snapshot.channels[0].areas[0].subjects.map(\.access) == [["ann"]])
            #expect(snapshot.channels[0].areas[0].subjects[0].approval == nil)
            #expect(try await store.pendingAudit(limit: 9).isEmpty)
            _ = try await store.set(
                SetApproval(channelID: topic.channel, areaID: topic.area, subjectID: topic.subject, approval: true), by: .ann)
            _ = try await store.set(SetOrder(channelID: topic.channel, ids: [topic.area]), by: .ann)
            #expect(try await store.snapshot().channels[0].areas[0].subjects[0].approval == true)
            #expect(try await store.pendingEntries(limit: 9).map(\.action) == ["approval.set", "order.set"])
            try await store.close()
        }
    }
}
