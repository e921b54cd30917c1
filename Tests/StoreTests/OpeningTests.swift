import Base
import Store
import GRDB
import Glibc
import Schemas
import TestSupport
import Testing

/// What happens when a store is opened, on the way to its first operation.
@Suite("Opening a store", .timeLimit(.minutes(10)))
struct OpeningTests {
    /// A document whose identifiers are numbers, before and after a change of its form.
    private struct Counter: StoredDocument {
        let id: Int64
        var uses: Int64?

        enum CodingKeys: String, CodingKey {
            case id = "_id"
            case uses
        }
    }

    @Test("An unreadable row with a number as its identifier does not end the upgrade of those after it")
    func unreadableNumber() async throws {
        try await withPlace(.sqlite) { place in
            let counters = Collection<Counter>("counter")
            try await place.withStore(StoreDeclaration("devices", counters)) { store in
                for number: Int64 in 1...450 where number != 200 { try await store.insert(Counter(id: number), into: counters) }
            }
            // The last row of the first page that the upgrade reads.
            try place.withFile { file in
                try file.execute(
                    sql: "INSERT INTO counter (id, document) VALUES (200, ?)", arguments: [#"{"_id":{"$oid":"none"}}"#])
            }
            let present = Collection<Counter>("counter", upgrades: [{ $0["uses"] = .int64(7) }])
            let log = RecordedLog()
            try await place.withStore(StoreDeclaration("devices", present), logger: log.logger) { _ in
                let upgraded = try place.withFile { file in
                    try Int.fetchOne(file, sql: "SELECT count(*) FROM counter WHERE json_extract(document, '$.uses') = 7")
                }
                #expect(upgraded == 449)
                #expect(log.louderThanDebug.count { $0.contains("200") } == 1, "\(log.louderThanDebug)")
            }
        }
    }

    @Test("A store inside another one's file gets what a later version declares: a collection, an index and a schema")
    func laterVersionInside() async throws {
        try await withPlace(.sqlite) { place in
            func with(_ declaration: StoreDeclaration, _ body: (Storage, EmbeddedDatabase) async throws -> Void) async throws {
                let database = try EmbeddedDatabase(path: place.folder + "/outer.sqlite", durability: .everyCommit) { _ in
                } prepare: {
                    try declaration.prepare($0, logger: quietLogger)
                }
                try await body(Storage(declaration, in: database, logger: quietLogger), database)
                try database.close()
            }
            let counters = Collection<Counter>("counter")
            try await with(StoreDeclaration("devices", counters)) { store, _ in
                try await store.insert(Counter(id: 1), into: counters)
            }
            let uses = Field("uses", \Counter.uses)
            let present = Collection<Counter>("counter", indexes: [.on(uses)], upgrades: [{ $0["uses"] = .int64(7) }])
            for opening in 1...2 {
                try await with(StoreDeclaration("devices", present, Devices.owners)) { store, database in
                    try await store.insert(Owner(id: "owner \(opening)"), into: Devices.owners)
                    let (found, indexes) = try await database.read { file in
                        (
                            try Int.fetchOne(file, sql: "SELECT json_extract(document, '$.uses') FROM counter"),
                            try Int.fetchOne(
                                file,
                                sql: "SELECT count(*) FROM sqlite_master WHERE tbl_name = 'counter' AND name LIKE 'counter %'")
                        )
                    }
                    #expect(found == 7 && indexes == 1)
                }
            }
        }
    }

    @Test("A store whose file is lost is not made again, until its mark is removed")
    func lostFile() async throws {
        try await withPlace(.sqlite) { place in
            try await place.withStore { store in try await store.insert(Device.sample(1), into: Devices.all) }
            #expect(unlink(place.folder + "/devices.sqlite") == 0)
            for _ in 0..<2 {
                let loss = await #expect(throws: LostStore.self) { _ = try await place.open() }
                #expect(loss?.description.contains("devices.sqlite is gone") == true)
                #expect(loss?.description.contains("msi restore") == true)
            }
            #expect(KnownStores.lost(in: place.folder) == ["devices.sqlite"])
            #expect(unlink(place.folder + "/stores/devices.sqlite") == 0)
            let documents = try await place.withStore { try await $0.page(of: Devices.all, limit: 1).documents }
            #expect(documents.isEmpty)
        }
    }

    @Test("Instances that open a new store at the same time all succeed, and log no outage", arguments: StoreKind.allCases)
    func openedAtOnce(_ kind: StoreKind) async throws {
        try await withPlace(kind) { place in
            let log = RecordedLog()
            try await concurrently(8) { number in
                try await place.withStore(logger: log.logger) { store in
                    try await store.insert(Device.sample(Int64(number)), into: Devices.all)
                }
            }
            #expect(log.louderThanDebug.isEmpty, "\(log.louderThanDebug)")
        }
    }
}
