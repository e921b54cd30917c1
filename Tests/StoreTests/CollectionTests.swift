import Store
import Schemas
import TestSupport
import Testing
import Base

/// The operations on one document, in both databases.
@Suite("Collection", .timeLimit(.minutes(10)))
struct CollectionTests {
    private var everything: Device {
        var device = Device.sample(7)
        device.serial = "s \"q\" \u{0} 🎓 مكتبة"
        device.kind = .tablet
        device.isActive = false
        device.ratio = -0.1
        device.tags = ["", "a"]
        device.parts = [Device.Part(id: ObjectID(), label: "p")]
        device.limits = ["a.b": .max, "c": .min]
        device.place = Device.Place(room: "R", floor: -1)
        device.expires = .now + 1_000_000
        return device
    }

    @Test("A document is read back as it was stored, even after the store was opened again", arguments: StoreKind.allCases)
    func roundTrip(_ kind: StoreKind) async throws {
        try await withPlace(kind) { place in
            let device = everything
            try await place.withStore { store in
                #expect(try await store.get(device.id, from: Devices.all) == nil)
                let added = try await store.insert(device, into: Devices.all)
                #expect(added.revision == 1 && added.document == device)
                try await store.insert(Owner(id: "ann"), into: Devices.owners)
                #expect(try await store.get(device.id, from: Devices.all) == added)
            }
            try await place.withStore { store in
                let found = try await store.get(device.id, from: Devices.all)
                #expect(found?.document == device && found?.revision == 1 && found?.token == device.token)
                #expect(try await store.get("ann", from: Devices.owners)?.document == Owner(id: "ann"))
                #expect(try await store.size() > 0)
                try await store.check()
            }
        }
    }

    @Test("Several documents are read and removed by their identifiers; missing ones are left out", arguments: StoreKind.allCases)
    func several(_ kind: StoreKind) async throws {
        try await withPlace(kind) { place in
            try await place.withStore { store in
                let devices = (0..<100).map { Device.sample($0) }
                for device in devices { try await store.insert(device, into: Devices.all) }
                let ids = devices.prefix(70).map(\.id)
                let found = try await store.get(all: [ObjectID()] + ids, from: Devices.all)
                #expect(Set(found.map(\.document.id)) == Set(ids) && found.count == 70)
                #expect(found.first { $0.document.id == ids[7] }?.document == devices[7])
                #expect(try await store.get(all: [], from: Devices.all).isEmpty)

                try await store.transaction { try $0.delete([ObjectID()] + ids, from: Devices.all) }
                let left = try await store.get(all: devices.map(\.id), from: Devices.all)
                #expect(Set(left.map(\.document.id)) == Set(devices.suffix(30).map(\.id)))
            }
        }
    }

    @Test("Stored documents have the declared types: ObjectIds, datetimes, whole numbers of 64 bits")
    func storedForm() async throws {
        try await withPlace(.mongodb) { place in
            let device = everything
            try await place.withStore { _ = try await $0.insert(device, into: Devices.all) }
            let fields = try BSONFields(try #require(try await place.document(device.id, in: "device")))
            #expect(try fields["owner"] == .objectID(device.owner))
            #expect(try fields["seen"] == .int64(7))
            #expect(try fields["made"]?.type == .date)
            #expect(try fields["picture"]?.type == .binary)
            #expect(try fields["_revision"] == .int64(1))
            #expect(try fields["_schema"] == nil)
        }
    }

    @Test("A change counts the revision, and one that changes nothing does not", arguments: StoreKind.allCases)
    func update(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
            let device = everything
            try await store.insert(device, into: Devices.all)
            let changed = try await store.update(device.id, in: Devices.all) { device in
                device.serial = nil
                device.seen += 1
            }
            #expect(changed.revision == 2 && changed.serial == nil && changed.seen == 8)
            #expect(try await store.get(device.id, from: Devices.all) == changed)
            #expect(try await store.update(device.id, in: Devices.all) { $0.seen = 8 }.revision == 2)
            struct Refused: Error {}
            await #expect(throws: Refused.self) {
                try await store.update(device.id, in: Devices.all) { device in
                    device.seen = 9
                    throw Refused()
                }
            }
            #expect(try await store.get(device.id, from: Devices.all) == changed)
        }
    }

    @Test("An edit that began before another change is refused, and so is a deletion", arguments: StoreKind.allCases)
    func conflicts(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
            let device = Device.sample()
            try await store.insert(device, into: Devices.all)
            try await store.update(device.id, in: Devices.all, unchangedSince: 1) { $0.seen = 5 }
            let late = await failure { try await store.update(device.id, in: Devices.all, unchangedSince: 1) { $0.seen = 6 } }
            #expect(late?.status == .conflict && late?.message.contains("revision 2") == true)
            let deletion = await failure { try await store.delete(device.id, from: Devices.all, unchangedSince: 1) }
            #expect(deletion?.status == .conflict)
            #expect(try await store.delete(device.id, from: Devices.all, unchangedSince: 2).seen == 5)
            #expect(try await store.get(device.id, from: Devices.all) == nil)
            for gone in [
                await failure { try await store.delete(device.id, from: Devices.all) },
                await failure { try await store.update(device.id, in: Devices.all) { $0.seen = 6 } },
            ] {
                #expect(gone?.status == .notFound && gone?.message == "no device \(device.id)")
            }
        }
    }

    @Test("Changes of one document by two instances are all kept", arguments: StoreKind.allCases)
    func severalInstances(_ kind: StoreKind) async throws {
        try await withTwoInstances(kind) { stores in
            let device = Device.sample()
            try await stores[0].insert(device, into: Devices.all)
            try await concurrently(40) { number in
                try await stores[number % 2].update(device.id, in: Devices.all) { $0.seen += 1 }
            }
            let found = try await stores[1].get(device.id, from: Devices.all)
            #expect(found?.seen == 40 && found?.revision == 41)
        }
    }

    @Test(
        "A unique index refuses a second document, by insertion and by change, and names its fields",
        arguments: StoreKind.allCases)
    func unique(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
            var first = Device.sample()
            first.serial = "1"
            try await store.insert(first, into: Devices.all)
            let sameID = await failure { [first] in try await store.insert(first, into: Devices.all) }
            #expect(sameID?.status == .conflict)

            var second = Device.sample(owner: first.owner)
            second.token = first.token
            let sameToken = await failure { [second] in try await store.insert(second, into: Devices.all) }
            #expect(sameToken?.status == .conflict && sameToken?.field == "token", "\(sameToken as Any)")
            #expect(sameToken?.message == "another device has the same token")

            second.token = "other"
            second.serial = "1"
            let samePair = await failure { [second] in try await store.insert(second, into: Devices.all) }
            #expect(samePair?.field == "owner, serial")

            // Documents without an optional field are exempt.
            second.serial = nil
            try await store.insert(second, into: Devices.all)
            try await store.insert(Device.sample(owner: first.owner), into: Devices.all)
            let change = await failure { try await store.update(second.id, in: Devices.all) { $0.serial = "1" } }
            #expect(change?.status == .conflict && change?.field == "owner, serial")
            #expect(try await store.get(second.id, from: Devices.all)?.revision == 1)

            try await store.delete(first.id, from: Devices.all)
            try await store.update(second.id, in: Devices.all) { $0.serial = "1" }
        }
    }

    @Test(
        "Fields that the type does not know, and the form of those that do not change, survive changes",
        arguments: StoreKind.allCases)
    func unknownFields(_ kind: StoreKind) async throws {
        try await withPlace(kind) { place in
            try await place.withStore { store in
                var device = everything
                device.parts.append(Device.Part(id: ObjectID(), label: "q"))
                var stored = try BSONFields(BSONCoder.encode(device)).all
                for index in stored.indices {
                    switch stored[index].key {
                    // MongoDB's shell writes numbers as doubles.
                    case "seen": stored[index].value = .double(7)
                    case "parts":
                        stored[index].value = .array(
                            device.parts.map {
                                ["id": .objectID($0.id), "label": .string($0.label), "note": .string("of \($0.label)")]
                            })
                    case "place": stored[index].value = ["room": "R", "floor": .int64(-1), "wing": "east"]
                    default: break
                    }
                }
                stored += [("extra", ["id": .objectID(device.id)]), ("nothing", nil)]
                try await place.insert(BSONDocument(stored), into: "device")
                let found = try #require(try await store.get(device.id, from: Devices.all))
                #expect(found.document == device && found.revision == 0)

                let changed = try await store.update(device.id, in: Devices.all, unchangedSince: 0) { device in
                    device.parts.swapAt(0, 1)
                    device.parts[0].label = "Q"
                    device.parts.append(Device.Part(id: ObjectID(), label: "r"))
                    device.place.floor = nil
                    device.serial = nil
                }
                #expect(changed.revision == 1)
                #expect(try await store.get(device.id, from: Devices.all) == changed)
                let fields = try BSONFields(try #require(try await place.document(device.id, in: "device")))
                #expect(try fields["seen"] == .double(7))
                #expect(try fields.fields("extra").value("id") == device.id)
                #expect(try fields.keys.contains("nothing") && fields["serial"] == nil)
                #expect(try fields.fields("place").value("wing") == "east" && fields.fields("place")["floor"] == nil)
                let parts = try fields.list("parts")
                #expect(try parts.map { try $0.value("label", as: String.self) } == ["Q", "p", "r"])
                #expect(try parts.map { try $0.optional("note", as: String.self) } == ["of q", "of p", nil])
            }
        }
    }

    @Test("A document may have 16 MiB; one that is larger is refused and changes nothing", arguments: StoreKind.allCases)
    func size(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
            var device = Device.sample()
            device.tags = [String(repeating: "x", count: 16 << 20)]
            let insertion = await failure { [device] in try await store.insert(device, into: Devices.all) }
            #expect(insertion?.status == .invalid && insertion?.message.contains("16777216") == true)
            device.tags = [String(repeating: "x", count: 15 << 20)]
            let large = try await store.insert(device, into: Devices.all)
            let growth = await failure {
                try await store.update(large.id, in: Devices.all) { $0.tags.append(String(repeating: "y", count: 1 << 20)) }
            }
            #expect(growth?.status == .invalid)
            #expect(try await store.get(large.id, from: Devices.all) == large)
        }
    }

    @Test("Names that MongoDB reserves are refused", arguments: StoreKind.allCases)
    func reservedNames(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
            var device = Device.sample()
            device.limits = ["$oid": 1]
            let refusal = await failure { [device] in try await store.insert(device, into: Devices.all) }
            #expect(refusal?.status == .invalid && refusal?.message.contains("$oid") == true)
        }
    }
}
