import Schemas
import Store
import TestSupport
import Testing

/// The documents of queries, their order, and further pages.
@Suite("Queries", .timeLimit(.minutes(10)))
struct QueryTests {
    private func all(
        of store: Storage, _ query: Query<Device>, limit: Int
    ) async throws -> [Device] {
        var (devices, cursor): ([Device], Cursor?) = ([], nil)
        repeat {
            let page = try await store.page(of: Devices.all, query, after: cursor, limit: limit)
            #expect(page.documents.count <= limit && (page.next == nil || page.documents.count == limit))
            devices += page.documents.map(\.document)
            // Callers send the cursor back as text.
            cursor = try page.next.map { try #require(Cursor($0.description)) }
        } while cursor != nil
        return devices
    }

    @Test("Pages of any size are in the query's order, and then by id", arguments: StoreKind.allCases)
    func pages(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
            let owner = ObjectID()
            let own = (0..<30).map { Device.sample($0 / 4, owner: owner) }
            for device in (own + (0..<10).map { Device.sample($0) }).shuffled() {
                try await store.insert(device, into: Devices.all)
            }
            for limit in [1, 7, 30, 100] {
                let ascending = Query(where: Devices.owner == owner, order: .ascending(Devices.seen))
                #expect(try await all(of: store, ascending, limit: limit) == own)
                let descending = Query(where: Devices.owner == owner, order: .descending(Devices.seen))
                #expect(try await all(of: store, descending, limit: limit) == own.reversed())
                let range = Query(
                    where: Devices.owner == owner, Devices.seen >= 2, Devices.seen < 5, order: .ascending(Devices.seen))
                #expect(try await all(of: store, range, limit: limit) == own.filter { (2..<5).contains($0.seen) })
                let after = Query(
                    where: Devices.owner == owner, Devices.seen > 2, Devices.seen <= 5, order: .descending(Devices.seen))
                #expect(try await all(of: store, after, limit: limit) == own.filter { (3...5).contains($0.seen) }.reversed())
            }
            let everything = try await all(of: store, Query(), limit: 11)
            #expect(everything.count == 40 && everything.map(\.id) == everything.map(\.id).sorted())
            #expect(try await all(of: store, Query(order: .descending()), limit: 11) == everything.reversed())
        }
    }

    @Test("A page begins behind any identifier, even one that no document has", arguments: StoreKind.allCases)
    func afterAnyIdentifier(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
            let devices = (0..<5).map { Device.sample($0) }.sorted { $0.id < $1.id }
            for device in devices where device.id != devices[2].id { try await store.insert(device, into: Devices.all) }
            // The second one is there, and the third one is not.
            for device in devices[1...2] {
                let page = try await store.page(of: Devices.all, after: Cursor(afterID: device.id), limit: 10)
                #expect(page.documents.map(\.document) == Array(devices[3...]))
            }
        }
    }

    @Test("Conditions work for every type of value, and for absent fields", arguments: StoreKind.allCases)
    func conditions(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
            var devices = (0..<12).map { Device.sample($0) }
            for index in devices.indices {
                devices[index].kind = index % 2 == 0 ? .phone : .tablet
                devices[index].isActive = index % 3 == 0
                devices[index].place.room = "é \(index / 6)"
                devices[index].place.floor = index < 4 ? nil : Int64(index / 3 - 2)
                try await store.insert(devices[index], into: Devices.all)
            }
            let active = Query(where: Devices.kind == .tablet, Devices.isActive == true)
            #expect(try await all(of: store, active, limit: 1) == devices.filter { $0.kind == .tablet && $0.isActive })
            #expect(try await all(of: store, Query(where: Devices.room == "é 1"), limit: 2) == Array(devices[6...]))
            #expect(try await all(of: store, Query(where: Devices.floor == nil), limit: 3) == Array(devices[..<4]))
            #expect(try await all(of: store, Query(where: Devices.token == devices[3].token), limit: 3) == [devices[3]])
            // Documents without the field come first and are in no range.
            for limit in [1, 3, 5, 20] {
                #expect(try await all(of: store, Query(order: .ascending(Devices.floor)), limit: limit) == devices)
                #expect(try await all(of: store, Query(order: .descending(Devices.floor)), limit: limit) == devices.reversed())
                let low = Query(where: Devices.floor < 1, order: .ascending(Devices.floor))
                #expect(try await all(of: store, low, limit: limit) == Array(devices[4..<9]))
            }
        }
    }

    @Test("A cursor keeps its position if its document is deleted or moved", arguments: StoreKind.allCases)
    func deletedPlace(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
            let owner = ObjectID()
            let devices = (0..<9).map { Device.sample($0 / 2, owner: owner) }
            for device in devices { try await store.insert(device, into: Devices.all) }
            let query = Query(where: Devices.owner == owner, order: .ascending(Devices.seen))
            let first = try await store.page(of: Devices.all, query, limit: 3)
            try await store.delete(devices[2].id, from: Devices.all)
            try await store.delete(devices[3].id, from: Devices.all)
            let second = try await store.page(of: Devices.all, query, after: first.next, limit: 3)
            #expect(second.documents.map(\.document) == Array(devices[4..<7]))
            try await store.update(devices[6].id, in: Devices.all) { $0.seen = -1 }
            let third = try await store.page(of: Devices.all, query, after: second.next, limit: 3)
            #expect(third.documents.map(\.document) == Array(devices[7...]) && third.next == nil)
        }
    }

    @Test("An invalid cursor, or one of another list, is refused", arguments: StoreKind.allCases)
    func foreignCursor(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
            for number: Int64 in 0..<3 { try await store.insert(Device.sample(number), into: Devices.all) }
            let place = try await store.page(of: Devices.all, limit: 1).next
            let query = Query(where: Devices.owner == ObjectID(), order: .ascending(Devices.seen))
            let refusal = await failure { try await store.page(of: Devices.all, query, after: place, limit: 1) }
            #expect(refusal?.status == .invalid && refusal?.field == "after")
            for text in ["", "x", "AAAA", "%", String(repeating: "A", count: 1_000)] { #expect(Cursor(text) == nil) }
        }
    }

    @Test("A query that no index serves ends the program")
    func unanswered() async {
        await #expect(processExitsWith: .failure) {
            try await withStore(.sqlite) { store in
                _ = try await store.page(of: Devices.all, Query(where: Devices.seen == 1), limit: 1)
            }
        }
    }
}
