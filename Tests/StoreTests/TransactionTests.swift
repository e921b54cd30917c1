import GRDB
import Schemas
import Store
import TestSupport
import Testing

/// Changes across collections, all or none.
@Suite("Transactions", .timeLimit(.minutes(10)))
struct TransactionTests {
    private struct Refused: Error {}

    @Test("A transaction that fails undoes everything in it, and nothing else", arguments: StoreKind.allCases)
    func undone(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
            let device = Device.sample()
            try await store.insert(Owner(id: "ann"), into: Devices.owners)
            await #expect(throws: Refused.self) {
                try await store.transaction { transaction in
                    try transaction.insert(device, into: Devices.all)
                    try transaction.update("ann", in: Devices.owners) { $0.devices += 1 }
                    #expect(try transaction.get("ann", from: Devices.owners)?.devices == 1)
                    #expect(try transaction.page(of: Devices.all, limit: 5).documents.count == 1)
                    throw Refused()
                }
            }
            let duplicate = await failure {
                try await store.transaction { transaction in
                    try transaction.insert(device, into: Devices.all)
                    try transaction.insert(Owner(id: "ann"), into: Devices.owners)
                }
            }
            #expect(duplicate?.status == .conflict && duplicate?.field == "_id")
            #expect(try await store.get(device.id, from: Devices.all) == nil)
            let ann = try await store.get("ann", from: Devices.owners)
            #expect(ann?.document == Owner(id: "ann") && ann?.revision == 1)

            let count = try await store.transaction { transaction in
                try transaction.insert(device, into: Devices.all)
                return try transaction.update("ann", in: Devices.owners) { $0.devices += 1 }.devices
            }
            #expect(count == 1)
            let seen = try await store.snapshot { transaction in
                (
                    try transaction.get(device.id, from: Devices.all)?.document,
                    try transaction.get("ann", from: Devices.owners)?.devices
                )
            }
            #expect(seen.0 == device && seen.1 == 1)
        }
    }

    @Test(
        "Of the transactions of two instances at once none is lost, and what one reads is of one moment",
        arguments: StoreKind.allCases)
    func concurrent(_ kind: StoreKind) async throws {
        try await withTwoInstances(kind) { stores in
            try await stores[0].insert(Owner(id: "ann"), into: Devices.owners)
            try await concurrently(30) { number in
                try await stores[number % 2].transaction { transaction in
                    try transaction.insert(Device.sample(), into: Devices.all)
                    try transaction.update("ann", in: Devices.owners) { $0.devices += 1 }
                }
                let (devices, count) = try await stores[1 - number % 2].snapshot { transaction in
                    (
                        try transaction.page(of: Devices.all, limit: 100).documents.count,
                        try transaction.get("ann", from: Devices.owners)?.devices
                    )
                }
                #expect(Int64(devices) == count)
            }
            #expect(try await stores[0].get("ann", from: Devices.owners)?.devices == 30)
            #expect(try await stores[0].page(of: Devices.all, limit: 100).documents.count == 30)
        }
    }

    @Test("A row of SQLite whose document has another id is unreadable, and is not changed")
    func anotherID() async throws {
        try await withPlace(.sqlite) { place in
            let log = RecordedLog()
            try await place.withStore(logger: log.logger) { store in
                let (ann, bob) = (Owner(id: "ann"), Owner(id: "bob"))
                for owner in [ann, bob] { try await store.insert(owner, into: Devices.owners) }
                try place.withFile { file in
                    try file.execute(
                        sql: "UPDATE owner SET document = json_set(document, '$._id', 'carl') WHERE id = 'ann'")
                }
                #expect(try await store.get("ann", from: Devices.owners) == nil)
                #expect(try await store.page(of: Devices.owners, limit: 5).documents.map(\.document) == [bob])
                let refusal = await failure { try await store.update("ann", in: Devices.owners) { $0.devices += 1 } }
                #expect(refusal?.status == .conflict && refusal?.message.contains("not the id of its row") == true)
                #expect(log.louderThanDebug.count { $0.contains("ann") } == 1, "\(log.louderThanDebug)")
            }
        }
    }
}
