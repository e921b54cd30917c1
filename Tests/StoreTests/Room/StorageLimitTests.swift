import Schemas
import Synchronization
import TestSupport
import Testing

@testable import Store

/// The operator's limit of a store.
@Suite("The limit of a store", .timeLimit(.minutes(10)))
struct StorageLimitTests {
    private final class Limit: Sendable {
        private let bytes = Mutex<Int64?>(nil)
        var read: @Sendable () -> Int64? { { self.bytes.withLock(\.self) } }
        func set(_ limit: Int64?) { bytes.withLock { $0 = limit } }
    }

    private static let changed = Collection<Device>("changed", reserve: .changes)
    private static let stored = Collection<Device>("stored", reserve: .everything)
    private static let declaration = StoreDeclaration("devices", Devices.all, changed, stored)

    private func withStore(_ kind: StoreKind, _ body: (Storage, Limit, RecordedLog) async throws -> Void) async throws {
        try await withPlace(kind) { place in
            let (limit, log) = (Limit(), RecordedLog())
            let store = try await Storage.open(Self.declaration, at: place.place, limit: limit.read, logger: log.logger)
            try await perform {
                try await body(store, limit, log)
            } finally: {
                try await store.close()
            }
        }
    }

    /// A megabyte or two that cannot be compressed much. Beside them a few documents do not matter.
    private func fill(_ store: Storage) async throws -> [Device] {
        let devices = (0..<100).map { number -> Device in
            var device = Device.sample(Int64(number))
            device.tags = (0..<1_000).map { _ in String(UInt64.random(in: 0 ... .max), radix: 16) }
            return device
        }
        for part in 0..<10 {
            let some = Array(devices[(part * 10)..<(part * 10 + 10)])
            try await store.transaction { try $0.insert(all: some, into: Devices.all) }
        }
        return devices
    }

    @Test(
        "At 90 % there is a word about it, and at 100 % of the room nothing new is stored; all else works",
        arguments: StoreKind.allCases)
    func limit(_ kind: StoreKind) async throws {
        try await withStore(kind) { store, limit, log in
            let devices = try await fill(store)
            let device = devices[0]
            for collection in [Self.changed, Self.stored] { try await store.insert(device, into: collection) }
            await store.measure()
            let bytes = try #require(store.usage).bytes
            #expect(bytes > 100_000 && store.usage?.limit == nil)

            limit.set(bytes * 100 / 92)
            await store.measure()
            #expect(store.isNearlyFull && store.storageHealth.status == .storageFull)
            let usage = try #require(store.usage)
            #expect(usage.name == "devices" && usage.limit == bytes * 100 / 92 && (90..<100).contains(usage.percent))
            #expect(log.has("the store devices is nearly full"))
            try await store.insert(Device.sample(), into: Devices.all)

            limit.set(bytes)
            await store.measure()
            #expect(store.usage?.percent == 100 && log.has("the store devices is full: new documents are refused"))
            #expect(await store.writeHealth().status == .storageFull)
            for refusal in [
                await failure { try await store.insert(Device.sample(), into: Devices.all) },
                await failure { try await store.insert(Device.sample(), into: Self.changed) },
                await failure { try await store.update(device.id, in: Devices.all) { $0.tags.append("more") } },
                await failure { try await store.transaction { try $0.insert(all: [Device.sample()], into: Devices.all) } },
                await failure { try await store.transaction { try $0.checkRoom() } },
            ] {
                #expect(refusal?.status == .storageFull && refusal?.message.contains("\(bytes)") == true)
            }
            try await store.update(device.id, in: Self.changed) { $0.tags.append("more") }
            try await store.insert(Device.sample(), into: Self.stored)
            #expect(try await store.get(device.id, from: Devices.all)?.document == device)
            try await store.update(device.id, in: Devices.all) { $0.tags = [] }
            try await store.delete(devices[1].id, from: Devices.all)

            limit.set(bytes * 2)
            await store.measure()
            try await store.insert(Device.sample(), into: Devices.all)
            #expect(log.has("the store devices has room again"))
        }
    }

    @Test("A store that is opened with less than it has takes nothing from the first moment on", arguments: StoreKind.allCases)
    func openedFull(_ kind: StoreKind) async throws {
        try await withPlace(kind) { place in
            try await place.withStore(Self.declaration) { store in _ = try await fill(store) }
            let store = try await Storage.open(Self.declaration, at: place.place, limit: { 1_000 }, logger: quietLogger)
            let refusal = await failure { try await store.insert(Device.sample(), into: Devices.all) }
            #expect(refusal?.status == .storageFull && refusal?.message.contains("may have 1000") == true)
            try await store.close()
        }
    }
}
