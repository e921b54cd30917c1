import Store
import Schemas
import TestSupport
import Testing

/// The moves of collections from one database to the other.
@Suite("Moving collections", .timeLimit(.minutes(10)))
struct MoveTests {
    /// Moves everything, as `msi migrate` does, and returns its report.
    static func move(
        to target: MovePlaces.Target, folder: String, url: String, required: [String: [String]] = [:]
    ) async throws -> [String] {
        let move = try await MovableCollections(required: required).open(
            MovePlaces(folder: folder, url: try MongoURL(url), target: target))
        var lines: [String] = []
        do {
            try await move.checkTarget()
            try await move.copy { lines.append($0) }
            lines += try await move.compare().map { try $0.report }
        } catch {
            try await move.close()
            throw error
        }
        try await move.close()
        return lines
    }

    static func withPlaces(_ body: (_ sqlite: StorePlace, _ mongodb: StorePlace, _ back: StorePlace) async throws -> Void)
        async throws
    {
        try await withTemporaryFolder { folder in
            try await withTemporaryFolder { other in
                try await body(
                    StorePlace(kind: .sqlite, folder: folder, url: nil),
                    StorePlace(kind: .mongodb, folder: folder, url: try await StoreKind.mongodb.newDatabaseURL()),
                    StorePlace(kind: .sqlite, folder: other, url: nil))
            }
        }
    }

    @Test(
        "Documents move there and back as they are stored, unknown fields and revisions included, however often the copy is run")
    func thereAndBack() async throws {
        try await Self.withPlaces { sqlite, mongodb, back in
            let url = try #require(mongodb.url)
            var devices = (0..<450).map { Device.sample($0) }
            devices[3].parts = [Device.Part(id: ObjectID(), label: "p")]
            let foreign = ObjectID()
            try await sqlite.withStore { store in
                for device in devices { try await store.insert(device, into: Devices.all) }
                try await store.update(devices[5].id, in: Devices.all) { $0.seen = 5_000 }
                try await store.insert(Owner(id: "ann"), into: Devices.owners)
            }
            try await sqlite.insert(
                ["_id": .objectID(foreign), "note": "theirs", "when": .foreign(.date, bytes: [1, 0, 0, 0, 0, 0, 0, 0])],
                into: "device")
            for round in 0..<2 {
                let lines = try await Self.move(to: .mongodb, folder: sqlite.folder, url: url)
                #expect(lines.contains("device: \(round == 0 ? 451 : 0) copied now"))
                #expect(
                    lines.contains { $0.hasPrefix("device: 451 documents, digest ") && $0.hasSuffix("the same on both sides") })
                #expect(lines.contains { $0.hasPrefix("owner: 1 documents, digest ") })
            }
            try await mongodb.withStore { store in
                let moved = try await store.page(of: Devices.all, limit: 1_000).documents
                #expect(moved.map(\.id) == devices.map(\.id))
                #expect(moved[3].document == devices[3] && moved[5].seen == 5_000 && moved[5].revision == 2)
                let stored = try BSONFields(try #require(try await mongodb.document(devices[0].id, in: "device")))
                #expect(try stored["owner"] == .objectID(devices[0].owner) && stored["_revision"] == .int64(1))
                try await store.update(devices[7].id, in: Devices.all) { $0.seen = 7_000 }
            }
            // A copy in the other direction reverts nothing.
            let refusal = await #expect(throws: MigrationFailure.self) {
                try await Self.move(to: .mongodb, folder: sqlite.folder, url: url)
            }
            #expect(refusal?.description.contains("\(devices[7].id)") == true)
            _ = try await Self.move(to: .sqlite, folder: back.folder, url: url)
            try await back.withStore { store in
                let moved = try await store.get(devices[7].id, from: Devices.all)
                #expect(moved?.seen == 7_000)
                let twin = Device(id: ObjectID(), owner: ObjectID(), token: devices[9].token)
                #expect(await failure { try await store.insert(twin, into: Devices.all) }?.field == "token")
            }
            let note = try #require(try await back.document(foreign, in: "device"))
            #expect(try BSONFields(note).value("note") == "theirs" && BSONFields(note)["when"]?.type == .date)
        }
    }

    @Test("Changes since the last copy are copied")
    func update() async throws {
        try await Self.withPlaces { sqlite, mongodb, _ in
            let url = try #require(mongodb.url)
            let device = Device.sample()
            try await sqlite.withStore { try await $0.insert(device, into: Devices.all) }
            _ = try await Self.move(to: .mongodb, folder: sqlite.folder, url: url)
            try await sqlite.withStore { store in
                try await store.update(device.id, in: Devices.all) { $0.seen = 1 }
                try await store.insert(Device.sample(), into: Devices.all)
            }
            #expect(try await Self.move(to: .mongodb, folder: sqlite.folder, url: url).contains("device: 2 copied now"))
            let moved = try await mongodb.withStore { try await $0.get(device.id, from: Devices.all) }
            #expect(moved?.seen == 1)
        }
    }

    @Test("A target that holds something else is refused, and nothing is written")
    func otherContents() async throws {
        try await Self.withPlaces { sqlite, mongodb, _ in
            let theirs = Device.sample()
            try await mongodb.withStore { try await $0.insert(theirs, into: Devices.all) }
            let ours = Device.sample()
            try await sqlite.withStore { try await $0.insert(ours, into: Devices.all) }
            let refusal = await #expect(throws: MigrationFailure.self) {
                try await Self.move(to: .mongodb, folder: sqlite.folder, url: try #require(mongodb.url))
            }
            #expect(refusal?.description.contains("Nothing was written") == true)
            #expect(try await mongodb.document(ours.id, in: "device") == nil)
        }
    }

    @Test("A required collection moves from MongoDB although no store has registered it")
    func unregistered() async throws {
        try await Self.withPlaces { _, mongodb, back in
            let theirs = ObjectID()
            try await mongodb.insert(["_id": .objectID(theirs), "note": "theirs"], into: "device")
            let url = try #require(mongodb.url)
            for copied in [1, 0] {
                let lines = try await Self.move(to: .sqlite, folder: back.folder, url: url, required: ["devices": ["device"]])
                #expect(lines.contains("device: \(copied) copied now"), "\(lines)")
            }
            let copy = try #require(try await back.document(theirs, in: "device"))
            #expect(try BSONFields(copy).value("note") == "theirs")
            // A store opens the copy and adds to it.
            try await back.withStore { try await $0.insert(Device.sample(), into: Devices.all) }
        }
    }

    @Test("Documents in the target that no store has registered there are not mixed with others")
    func unregisteredInTarget() async throws {
        try await Self.withPlaces { sqlite, mongodb, _ in
            let ours = Device.sample()
            try await sqlite.withStore { try await $0.insert(ours, into: Devices.all) }
            try await mongodb.insert(["_id": .objectID(ObjectID()), "note": "theirs"], into: "device")
            let refusal = await #expect(throws: MigrationFailure.self) {
                try await Self.move(to: .mongodb, folder: sqlite.folder, url: try #require(mongodb.url))
            }
            #expect(refusal?.description.contains("Nothing was written") == true)
            #expect(try await mongodb.document(ours.id, in: "device") == nil)
        }
    }
}
