import Base
import Schemas
import Store
import TestSupport
import Testing

/// A store's answers while its database fails, and its recovery.
@Suite("Storage faults", .timeLimit(.minutes(10)))
struct StorageFaultTests {
    private func withServer(
        options: [String] = [], _ body: (MongoServer, Storage, RecordedLog) async throws -> Void
    ) async throws {
        try await withMongoServer { server in
            let place = StorePlace(kind: .mongodb, folder: "/nonexistent", url: server.url(options: options))
            let log = RecordedLog()
            try await place.withStore(logger: log.logger) { try await body(server, $0, log) }
        }
    }

    @Test("After a kill of the server every operation is unavailable at once; once it is back, the stored data is there")
    func killed() async throws {
        try await withServer { server, store, log in
            let device = Device.sample()
            try await store.insert(device, into: Devices.all)
            await server.kill()
            let failures = [
                await failure { try await store.get(device.id, from: Devices.all) },
                await failure { try await store.page(of: Devices.all, limit: 1) },
                await failure { try await store.insert(Device.sample(), into: Devices.all) },
                await failure { try await store.update(device.id, in: Devices.all) { $0.seen += 1 } },
                await failure { try await store.delete(device.id, from: Devices.all) },
                await failure { try await store.transaction { _ = try $0.insert(Device.sample(), into: Devices.all) } },
                await failure { try await store.size() },
                await failure { try await store.check() },
            ]
            #expect(failures.allSatisfy { $0?.status == .unavailable && $0?.retryAfter != nil })
            let start = ContinuousClock.now
            for _ in 0..<200 { #expect(await failure { try await store.check() }?.status == .unavailable) }
            // Each would wait for seconds if it tried.
            #expect(ContinuousClock.now - start < .seconds(60))
            try await server.restart()
            try await eventually { await failure { try await store.check() } == nil }
            #expect(try await store.get(device.id, from: Devices.all)?.document == device)
            try await store.update(device.id, in: Devices.all) { $0.seen += 1 }
            #expect(log.louderThanDebug.count == 2)
        }
    }

    @Test("Transactions that are under way when the server is killed are done or undone as a whole")
    func killedInTransactions() async throws {
        try await withServer { server, store, _ in
            try await store.insert(Owner(id: "ann"), into: Devices.owners)
            let done = try await withThrowingTaskGroup(of: Int64.self) { group in
                for client in 0..<4 {
                    group.addTask {
                        var done: Int64 = 0
                        while await failure({
                            try await store.transaction { transaction in
                                try transaction.insert(Device.sample(), into: Devices.all)
                                try transaction.update("ann", in: Devices.owners) { $0.devices += 1 }
                            }
                        }) == nil {
                            done += 1
                            if client == 0, done == 5 { await server.kill() }
                        }
                        return done
                    }
                }
                return try await group.reduce(0, +)
            }
            try await server.restart()
            try await eventually { await failure { try await store.check() } == nil }
            let counted = try #require(try await store.get("ann", from: Devices.owners)).devices
            let devices = try await store.page(of: Devices.all, limit: 1_000).documents.count
            #expect(counted == Int64(devices) && counted >= done && counted <= done + 4)
        }
    }

    @Test("A frozen server is unreachable within seconds, and reachable once it continues")
    func frozen() async throws {
        try await withServer(options: ["socketTimeoutMS=120000"]) { server, store, log in
            let device = Device.sample()
            try await store.insert(device, into: Devices.all)
            try await server.freeze()
            async let hanging = failure { try await store.update(device.id, in: Devices.all) { $0.seen += 1 } }
            try await eventually { !log.louderThanDebug.isEmpty }
            let start = ContinuousClock.now
            #expect(await failure { try await store.get(device.id, from: Devices.all) }?.status == .unavailable)
            #expect(ContinuousClock.now - start < .seconds(60))
            server.thaw()
            #expect(await hanging == nil)
            try await eventually { await failure { try await store.check() } == nil }
            let found = try await store.get(device.id, from: Devices.all)
            #expect(found?.seen == 1)
        }
    }

    @Test("A store may be opened before its server is there")
    func openedBeforehand() async throws {
        try await withMongoServer { server in
            let place = StorePlace(kind: .mongodb, folder: "/nonexistent", url: server.url())
            await server.kill()
            try await place.withStore { store in
                #expect(await failure { try await store.insert(Device.sample(), into: Devices.all) }?.status == .unavailable)
                try await server.restart()
                try await eventually { await failure { try await store.insert(Device.sample(), into: Devices.all) } == nil }
            }
        }
    }

    @Test("A server without transactions is unavailable from the start, and the log says what it lacks")
    func standalone() async throws {
        try await withMongoServer(flags: ["--standalone"]) { server in
            let log = RecordedLog()
            let place = StorePlace(kind: .mongodb, folder: "/nonexistent", url: server.url())
            try await place.withStore(logger: log.logger) { store in
                #expect(await failure { try await store.check() }?.status == .unavailable)
                #expect(log.louderThanDebug.contains { $0.contains("replica set") })
            }
        }
    }

    @Test(
        "On a full disk documents cannot grow, but can be read, shortened and deleted; once there is room, all works again",
        .enabled(if: SmallDisk.isPossible))
    func fullDisk() async throws {
        try await SmallDisk.with(megabytes: 24) { disk in
            let place = StorePlace(kind: .sqlite, folder: disk.folder, url: nil)
            try await place.withStore { store in
                var device = Device.sample()
                device.tags = [String(repeating: "x", count: 5_000)]
                let other = Device.sample()
                try await store.insert(device, into: Devices.all)
                try await store.insert(other, into: Devices.all)
                // Less than the reserve is free.
                try disk.fill(leaving: 4 << 20)
                for refusal in [
                    await failure { try await store.insert(Device.sample(), into: Devices.all) },
                    await failure { try await store.update(other.id, in: Devices.all) { $0.tags = ["more"] } },
                    await failure { try await store.transaction { _ = try $0.insert(Device.sample(), into: Devices.all) } },
                ] {
                    #expect(refusal?.status == .storageFull)
                }
                try await store.update(device.id, in: Devices.all) { $0.tags = [] }
                try await store.delete(other.id, from: Devices.all)
                try disk.free()
                // The disk is completely full.
                try disk.fill()
                let full = await failure {
                    for _ in 0..<200 { try await store.update(device.id, in: Devices.all) { $0.seen += 1 } }
                }
                #expect(full == nil || full?.status == .storageFull, "\(full as Any)")
                let seen = try #require(try await store.get(device.id, from: Devices.all)).seen
                try disk.free()
                #expect(try await store.update(device.id, in: Devices.all) { $0.seen += 1 }.seen == seen + 1)
                try await store.insert(other, into: Devices.all)
            }
            let documents = try await place.withStore { try await $0.page(of: Devices.all, limit: 9).documents }
            #expect(documents.count == 2)
        }
    }

    @Test("A collection declares which writes may use the reserve of the disk", .enabled(if: SmallDisk.isPossible))
    func reserve() async throws {
        let changed = Collection<Device>("changed", reserve: .changes)
        let stored = Collection<Device>("stored", reserve: .everything)
        try await SmallDisk.with(megabytes: 24) { disk in
            let place = StorePlace(kind: .sqlite, folder: disk.folder, url: nil)
            try await place.withStore(StoreDeclaration("devices", Devices.all, changed, stored)) { store in
                let device = Device.sample()
                for collection in [Devices.all, changed, stored] { try await store.insert(device, into: collection) }
                // Less than the reserve is free.
                try disk.fill(leaving: 4 << 20)
                let more = Device.sample()
                for collection in [Devices.all, changed] {
                    #expect(await failure { try await store.insert(more, into: collection) }?.status == .storageFull)
                }
                try await store.insert(more, into: stored)
                let growth = await failure { try await store.update(device.id, in: Devices.all) { $0.tags = ["more"] } }
                #expect(growth?.status == .storageFull)
                for collection in [changed, stored] {
                    try await store.update(device.id, in: collection) { $0.tags = ["more"] }
                    #expect(try await store.delete(device.id, from: collection).tags == ["more"])
                }
                // A transaction is refused as a whole.
                let both = await failure {
                    try await store.transaction { transaction in
                        try transaction.insert(device, into: stored)
                        try transaction.insert(device, into: changed)
                    }
                }
                #expect(both?.status == .storageFull)
                #expect(try await store.get(device.id, from: stored) == nil)
            }
        }
    }

    @Test("A store is not opened while its files are moved, and is not moved while it is open")
    func lock() async throws {
        try await withPlace(.sqlite) { place in
            let move = try StateLock(.data, .alone, in: place.folder, orElse: "in use")
            await #expect(throws: StateLockFailure.self) { try await place.open() }
            move.release()
            try await place.withStore { _ in
                #expect(throws: StateLockFailure.self) { try StateLock(.data, .alone, in: place.folder, orElse: "in use") }
            }
            try StateLock(.data, .alone, in: place.folder, orElse: "in use").release()
        }
    }
}
