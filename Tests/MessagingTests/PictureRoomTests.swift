import Base
import Schemas
import Store
import TestSupport
import Testing

@testable import Messaging

@Suite("The room for pictures", .timeLimit(.minutes(10)))
struct PictureRoomTests {
    @Test(
        "From 90 % of their limit on the health and the log say that pictures are nearly full", arguments: StoreKind.ofRules)
    func room(kind: StoreKind) async throws {
        try await withTemporaryFolder { folder in
            let url = try await kind.newDatabaseURL().map { try MongoURL($0) }
            let log = RecordedLog()
            let store = try await Storage.open(
                MessagingStore.declaration, at: StoragePlace(database: url, folder: folder), logger: quietLogger)
            let rules = MessagingRules(
                days: 28, digestDays: 90, reportDays: 90, publishedDays: 365, poll: 30, perMinute: 60, calls: nil,
                pictures: 1_000)
            let room = PictureRoom(store: store, rules: { rules }, logger: log.logger)
            #expect(await room.usage().map(\.bytes) == [0])
            #expect(await room.health().isEmpty)
            let id = PictureTotalDocument.id
            try await store.insert(PictureTotalDocument(id: id, bytes: 899), into: MessagingStore.totals)
            #expect(await room.usage().map(\.percent) == [89])
            for bytes in [900, 1_000, 1_200] as [Int64] {
                try await store.update(id, in: MessagingStore.totals) { $0.bytes = bytes }
                let part = await room.health()["pictures"]
                #expect(part?.status == .storageFull, "\(bytes)")
            }
            #expect(await room.usage().map(\.percent) == [100])
            try await store.update(id, in: MessagingStore.totals) { $0.bytes = 10 }
            #expect(await room.health().isEmpty)
            let lines = log.lines.map(\.text)
            #expect(lines.count { $0.contains("the room for pictures is nearly full") } == 1)
            #expect(lines.count { $0.contains("there is room for pictures again") } == 1)
            try await store.close()
        }
    }
}
