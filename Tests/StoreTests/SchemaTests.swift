import Store
import Schemas
import TestSupport
import Testing

/// Stores written by another version of the program or by another program.
@Suite("Schemas and indexes", .timeLimit(.minutes(10)))
struct SchemaTests {
    /// `Device` in an earlier version, with another name for its token.
    private struct OldDevice: StoredDocument {
        let id: ObjectID
        var owner: ObjectID
        var key: String

        enum CodingKeys: String, CodingKey {
            case id = "_id"
            case owner, key
        }
    }

    /// `Device` in a later version.
    private struct NewDevice: StoredDocument, Equatable {
        let id: ObjectID
        var owner: ObjectID
        var token: String
        var uses: Int64

        enum CodingKeys: String, CodingKey {
            case id = "_id"
            case owner, token, uses
        }
    }

    /// `Device` in the version between the two: it writes documents as `OldDevice`, and reads those of `NewDevice` as well.
    private struct ReadingDevice: StoredDocument {
        let id: ObjectID
        var owner: ObjectID
        var name: String
        private var schema: Int64 = 1

        init(id: ObjectID, owner: ObjectID, name: String) {
            (self.id, self.owner, self.name) = (id, owner, name)
        }

        private enum CodingKeys: String, CodingKey {
            case id = "_id"
            case owner, key, token
            case schema = "_schema"
        }

        init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            id = try fields.decode(ObjectID.self, forKey: .id)
            owner = try fields.decode(ObjectID.self, forKey: .owner)
            schema = try fields.decodeIfPresent(Int64.self, forKey: .schema) ?? 1
            name = try fields.decode(String.self, forKey: schema == 1 ? .key : .token)
        }

        func encode(to encoder: any Encoder) throws {
            var fields = encoder.container(keyedBy: CodingKeys.self)
            try fields.encode(id, forKey: .id)
            try fields.encode(owner, forKey: .owner)
            try fields.encode(name, forKey: schema == 1 ? .key : .token)
        }
    }

    private enum Reading {
        static let owner = Field("owner", \ReadingDevice.owner)
        static let all = Collection<ReadingDevice>("device", indexes: [.on(owner)], readable: 1...3)
        static let store = StoreDeclaration("devices", all)
    }

    private enum Old {
        static let key = Field("key", \OldDevice.key)
        static let owner = Field("owner", \OldDevice.owner)
        static let all = Collection<OldDevice>("device", indexes: [.unique(owner), .on(key)])
        static let store = StoreDeclaration("devices", all)
    }

    private enum New {
        static let token = Field("token", \NewDevice.token)
        static let owner = Field("owner", \NewDevice.owner)
        static let all = Collection<NewDevice>(
            "device", indexes: [.unique(token), .on(owner)],
            upgrades: [
                { $0.rename("key", to: "token") },
                { fields in
                    struct Broken: Error {}
                    guard fields["token"] != "broken" else { throw Broken() }
                    fields["uses"] = .int64(0)
                },
            ])
        static let store = StoreDeclaration("devices", all)
    }

    @Test(
        "Documents of an older schema are upgraded at the start, once, and what an older instance writes later when it is read",
        arguments: StoreKind.allCases)
    func upgrade(_ kind: StoreKind) async throws {
        try await withPlace(kind) { place in
            let owner = ObjectID()
            let devices = (0..<450).map { OldDevice(id: ObjectID(), owner: ObjectID(), key: "k\($0)") }
            let older = try await place.open(Old.store)
            for device in devices { try await older.insert(device, into: Old.all) }
            try await place.withStore(New.store) { store in
                let stored = try BSONFields(try #require(try await place.document(devices[449].id, in: "device")))
                #expect(try stored["token"] == "k449" && stored["key"] == nil && stored.value("_schema", as: Int64.self) == 3)
                let found = try await store.get(devices[7].id, from: New.all)
                #expect(found?.document == NewDevice(id: devices[7].id, owner: devices[7].owner, token: "k7", uses: 0))
                #expect(found?.revision == 2)
                // The query needs the new index.
                let page = try await store.page(of: New.all, Query(where: New.token == "k300"), limit: 5)
                #expect(page.documents.map(\.id) == [devices[300].id])
                // The removed unique index no longer applies.
                for number in 0..<2 {
                    try await store.insert(NewDevice(id: ObjectID(), owner: owner, token: "n\(number)", uses: 1), into: New.all)
                }

                let late = OldDevice(id: ObjectID(), owner: ObjectID(), key: "late")
                try await older.insert(late, into: Old.all)
                #expect(try await store.get(late.id, from: New.all)?.token == "late")
                try await store.update(late.id, in: New.all) { $0.uses += 1 }
                let changed = try BSONFields(try #require(try await place.document(late.id, in: "device")))
                #expect(try changed["key"] == nil && changed.value("uses", as: Int64.self) == 1)

                // The older version reports it as unreadable and does not change it.
                #expect(try await older.get(late.id, from: Old.all) == nil)
                let refusal = await failure { try await older.update(late.id, in: Old.all) { $0.key = "" } }
                #expect(refusal?.status == .conflict && refusal?.message.contains("newer version") == true)
                #expect(await failure { try await older.delete(late.id, from: Old.all) }?.status == .conflict)
            }
            try await older.close()
        }
    }

    @Test("A store with a schema that this version does not know is refused unchanged, with its name and both numbers")
    func unknownSchema() async throws {
        try await withPlace(.sqlite) { place in
            let device = OldDevice(id: ObjectID(), owner: ObjectID(), key: "k")
            try await place.withStore(Old.store) { _ = try await $0.insert(device, into: Old.all) }
            try await place.withStore(New.store) { _ in }
            let refusal = await failure { try await place.open(Old.store) }
            #expect(refusal?.status == .unavailable)
            for part in ["devices.sqlite", "the format 3", "it knows is 1"] { #expect(refusal?.message.contains(part) == true) }
            #expect(try await place.withStore(New.store) { try await $0.get(device.id, from: New.all) }?.token == "k")
        }
        try await withPlace(.mongodb) { place in
            let device = NewDevice(id: ObjectID(), owner: ObjectID(), token: "t", uses: 0)
            try await place.withStore(New.store) { _ = try await $0.insert(device, into: New.all) }
            let log = RecordedLog()
            try await place.withStore(Old.store, logger: log.logger) { store in
                #expect(await failure { try await store.page(of: Old.all, limit: 1) }?.status == .unavailable)
            }
            let parts = ["device", "the format 3", "it knows is 1"]
            #expect(log.louderThanDebug.contains { line in parts.allSatisfy { line.contains($0) } })
            // The unique index of the later version is still there.
            try await place.withStore(New.store) { store in
                let twin = NewDevice(id: ObjectID(), owner: ObjectID(), token: "t", uses: 0)
                #expect(await failure { try await store.insert(twin, into: New.all) }?.field == "token")
            }
        }
    }

    @Test(
        "A version that reads the next schema works with the documents of both, and the later version upgrades what it writes",
        arguments: StoreKind.allCases)
    func nextSchema(_ kind: StoreKind) async throws {
        try await withPlace(kind) { place in
            let later = NewDevice(id: ObjectID(), owner: ObjectID(), token: "later", uses: 7)
            try await place.withStore(New.store) { _ = try await $0.insert(later, into: New.all) }
            let own = ReadingDevice(id: ObjectID(), owner: ObjectID(), name: "own")
            try await place.withStore(Reading.store) { store in
                #expect(try await store.get(later.id, from: Reading.all)?.name == "later")
                let untouched = try BSONFields(try #require(try await place.document(later.id, in: "device")))
                #expect(try untouched.value("_schema", as: Int64.self) == 3 && untouched.value("_revision", as: Int64.self) == 1)
                try await store.update(later.id, in: Reading.all) { $0.name = "changed" }
                try await store.insert(own, into: Reading.all)
                let stored = try BSONFields(try #require(try await place.document(own.id, in: "device")))
                #expect(try stored["key"] == "own" && stored["_schema"] == nil)
            }
            try await place.withStore(New.store) { store in
                let changed = try await store.get(later.id, from: New.all)
                #expect(changed?.document == NewDevice(id: later.id, owner: later.owner, token: "changed", uses: 7))
                #expect(try await store.get(own.id, from: New.all)?.token == "own")
            }
        }
    }

    @Test("A second move of a store that was upgraded since the first one raises the schema of the target's register")
    func moved() async throws {
        try await MoveTests.withPlaces { _, mongodb, target in
            let url = try #require(mongodb.url)
            let device = OldDevice(id: ObjectID(), owner: ObjectID(), key: "k")
            try await mongodb.withStore(Old.store) { _ = try await $0.insert(device, into: Old.all) }
            _ = try await MoveTests.move(to: .sqlite, folder: target.folder, url: url)
            try await mongodb.withStore(New.store) { _ in }
            _ = try await MoveTests.move(to: .sqlite, folder: target.folder, url: url)
            #expect(await failure { try await target.open(Old.store) }?.message.contains("the format 3") == true)
            #expect(try await target.withStore(New.store) { try await $0.get(device.id, from: New.all) }?.token == "k")
        }
    }

    @Test("A document that an upgrade cannot read stays unchanged, and the log names it", arguments: StoreKind.allCases)
    func brokenUpgrade(_ kind: StoreKind) async throws {
        try await withPlace(kind) { place in
            let devices = ["a", "broken", "b"].map { OldDevice(id: ObjectID(), owner: ObjectID(), key: $0) }
            try await place.withStore(Old.store) { store in
                for device in devices { try await store.insert(device, into: Old.all) }
            }
            let log = RecordedLog()
            try await place.withStore(New.store, logger: log.logger) { store in
                let readable = try await store.page(of: New.all, limit: 2).documents
                #expect(readable.map(\.token) == ["a", "b"])
                #expect(try BSONFields(try #require(try await place.document(devices[1].id, in: "device")))["key"] == "broken")
                #expect(log.louderThanDebug.count { $0.contains("\(devices[1].id)") } == 1)
            }
        }
    }

    @Test(
        "What cannot be read is left out of pages, may not be changed, and is named in the log once",
        arguments: StoreKind.allCases)
    func unreadable(_ kind: StoreKind) async throws {
        try await withPlace(kind) { place in
            let log = RecordedLog()
            try await place.withStore(logger: log.logger) { store in
                let owner = ObjectID()
                let devices = (0..<6).map { Device.sample($0, owner: owner) }
                var spoilt: [ObjectID] = []
                for device in devices {
                    try await store.insert(device, into: Devices.all)
                    for (key, value) in [("is_active", BSONValue.string("yes")), ("made", .int64(5))] {
                        let bad = Device.sample(device.seen, owner: owner)
                        var fields = try BSONFields(BSONCoder.encode(bad)).all
                        for index in fields.indices where fields[index].key == key { fields[index].value = value }
                        try await place.insert(BSONDocument(fields), into: "device")
                        spoilt.append(bad.id)
                    }
                }
                let query = Query(where: Devices.owner == owner, order: .descending(Devices.seen))
                for limit in [1, 4, 10] {
                    var (found, cursor): ([Device], Cursor?) = ([], nil)
                    repeat {
                        let page = try await store.page(of: Devices.all, query, after: cursor, limit: limit)
                        found += page.documents.map(\.document)
                        cursor = page.next
                    } while cursor != nil
                    #expect(found == devices.reversed())
                }
                for limit in [1, 4, 18] {
                    var (found, names, cursor): ([Device], [String], Cursor?) = ([], [], nil)
                    repeat {
                        let part = try await store.snapshot { [cursor] in try $0.scan(Devices.all, after: cursor, limit: limit) }
                        found += part.documents.map(\.document)
                        names += part.unreadable
                        // Callers send the cursor back as text.
                        cursor = try part.next.map { try #require(Cursor($0.description)) }
                    } while cursor != nil
                    #expect(found.map(\.id).sorted() == devices.map(\.id).sorted())
                    #expect(names.sorted() == spoilt.map { "\($0)" }.sorted())
                }
                #expect(try await store.get(spoilt[0], from: Devices.all) == nil)
                let change = await failure { try await store.update(spoilt[0], in: Devices.all) { $0.seen = 9 } }
                #expect(change?.status == .conflict && change?.message.contains("is_active") == true, "\(change as Any)")
                #expect(await failure { try await store.delete(spoilt[1], from: Devices.all) }?.status == .conflict)
                for id in spoilt { #expect(log.louderThanDebug.count { $0.contains("\(id)") } == 1) }
            }
        }
    }

    @Test("An index with the same name or keys, but another form, is created again")
    func otherIndex() async throws {
        try await withPlace(.mongodb) { place in
            let url = try #require(place.url)
            try await withMongoDatabase(url) { database in
                let indexes: [BSONValue] = [
                    ["name": "unique token", "key": ["owner": 1]], ["name": "mine", "key": ["owner": 1, "seen": 1, "_id": 1]],
                ]
                for index in indexes {
                    _ = try await database.run { try $0.write(["createIndexes": "device", "indexes": [index]]) }
                }
            }
            let device = Device.sample()
            for _ in 0..<2 {
                try await place.withStore { store in
                    if try await store.get(device.id, from: Devices.all) == nil {
                        try await store.insert(device, into: Devices.all)
                    }
                    let twin = Device(id: ObjectID(), owner: ObjectID(), token: device.token)
                    #expect(await failure { try await store.insert(twin, into: Devices.all) }?.field == "token")
                }
            }
        }
    }

    @Test("A store whose documents violate a unique index does not open, and the error names the index")
    func brokenUniqueness() async throws {
        try await withPlace(.sqlite) { place in
            try await place.withStore(Old.store) { store in
                for _ in 0..<2 { try await store.insert(OldDevice(id: ObjectID(), owner: ObjectID(), key: "k"), into: Old.all) }
            }
            let refusal = await failure { try await place.open(New.store) }
            #expect(refusal?.status == .unavailable && refusal?.message.contains("the same token") == true)
            // Nothing was changed: the older version still works with it.
            let documents = try await place.withStore(Old.store) { try await $0.page(of: Old.all, limit: 5).documents }
            #expect(documents.count == 2)
        }
        try await withPlace(.mongodb) { place in
            try await place.withStore(Old.store) { store in
                for _ in 0..<2 { try await store.insert(OldDevice(id: ObjectID(), owner: ObjectID(), key: "k"), into: Old.all) }
            }
            let log = RecordedLog()
            try await place.withStore(New.store, logger: log.logger) { store in
                #expect(log.louderThanDebug.contains { $0.contains("unique token") })
                #expect(await failure { try await store.page(of: New.all, limit: 1) } != nil)
            }
        }
    }
}
