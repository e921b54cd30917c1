import Schemas
import Store
import Synchronization
import TestSupport
import Testing

/// Documents expire at their time, even on servers without a TTL monitor.
@Suite("Expiry", .timeLimit(.minutes(10)))
struct ExpiryTests {
    private final class Clock: Sendable {
        let now = Atomic<Int64>(1_000)
        var read: @Sendable () -> UnixMilliseconds { { UnixMilliseconds(rawValue: self.now.load(ordering: .relaxed)) } }
        func set(_ moment: Int64) { now.store(moment, ordering: .relaxed) }
    }

    @Test(
        "What has expired is not read, changed or in the way, from that moment on, and is removed later",
        arguments: StoreKind.allCases)
    func expiry(_ kind: StoreKind) async throws {
        try await withPlace(kind) { place in
            let clock = Clock()
            try await place.withStore(now: clock.read) { store in
                var (short, long) = (Device.sample(1), Device.sample(2))
                let lasting = Device.sample(3)
                short.expires = 2_000
                long.expires = 3_000
                long.owner = short.owner
                (short.serial, long.serial) = ("1", "2")
                for device in [short, long, lasting] { try await store.insert(device, into: Devices.all) }
                clock.set(1_999)
                #expect(try await store.get(short.id, from: Devices.all)?.document == short)
                clock.set(2_000)
                #expect(try await store.get(short.id, from: Devices.all) == nil)
                #expect(try await store.get(all: [short.id, long.id], from: Devices.all).map(\.document) == [long])
                #expect(try await store.page(of: Devices.all, limit: 9).documents.map(\.document) == [long, lasting])
                let list = Query(where: Devices.owner == short.owner, order: .ascending(Devices.seen))
                #expect(try await store.page(of: Devices.all, list, limit: 9).documents.map(\.document) == [long])
                #expect(await failure { try await store.update(short.id, in: Devices.all) { $0.seen = 2 } }?.status == .notFound)
                #expect(await failure { try await store.delete(short.id, from: Devices.all) }?.status == .notFound)

                // Its keys can be used again by a change and by another document, alone and in a transaction.
                try await store.update(long.id, in: Devices.all) { $0.serial = "1" }
                #expect(try await place.document(short.id, in: "device") == nil)
                clock.set(3_000)
                let next = Device(id: ObjectID(), owner: long.owner, token: long.token)
                try await store.transaction { _ = try $0.insert(next, into: Devices.all) }
                var last = next
                last.owner = ObjectID()
                let taken = await failure { [last] in try await store.insert(last, into: Devices.all) }
                #expect(taken?.status == .conflict)

                try await store.update(lasting.id, in: Devices.all) { $0.expires = 4_000 }
                #expect(try await store.removeExpired() == 0)
                clock.set(4_000)
                #expect(try await store.removeExpired() == 1)
                #expect(try await place.document(lasting.id, in: "device") == nil)
                #expect(try await store.get(next.id, from: Devices.all)?.document == next)
            }
        }
    }
}
