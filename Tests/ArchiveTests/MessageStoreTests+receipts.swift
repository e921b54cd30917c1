import Store
import Schemas
import TestSupport
import Testing
import Base

@testable import Archive

/// What phones report.
extension MessageStoreTests {
    /// A message that a relay has taken.
    private static func taken(_ title: String = "T") -> Message {
        var message = message(title)
        message.relay.attempts = 1
        return message
    }

    private func receipts(of message: Message, in store: any MessageStore) async throws -> MessageReceipts? {
        try await store.receipts(of: [message.msiKey])[message.msiKey]
    }

    @Test("Reports are counted once, in their order, and unknown messages are left out", arguments: StoreKind.allCases)
    func receipts(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let (one, other) = (Self.taken("1"), Self.taken("2"))
            for message in [one, other] { _ = try await store.insert(message) }
            let (first, second) = (ObjectID(), ObjectID())
            #expect(try await store.receipts(of: [one.msiKey, other.msiKey]).isEmpty)
            let reports = [
                AddReceipts(installation: first, report: 1, received: [one.msiKey, other.msiKey, one.msiKey], opened: []),
                AddReceipts(installation: first, report: 2, received: [], opened: [one.msiKey]),
                AddReceipts(installation: first, report: 2, received: [], opened: [one.msiKey]),
                AddReceipts(installation: second, report: 7, received: [one.msiKey, ObjectID()], opened: []),
            ]
            try await store.add(reports, now: 1_000)
            // Repeated, and late.
            try await store.add(reports, now: 2_000)
            #expect(
                try await store.receipts(of: [one.msiKey, other.msiKey, ObjectID()]) == [
                    one.msiKey: MessageReceipts(received: 2, opened: 1), other.msiKey: MessageReceipts(received: 1, opened: 0),
                ])
            let page = try await store.withReceipts(try await store.page(MessageFilter(), before: nil, limit: 5))
            #expect(Set(page.map(\.receipts?.received)) == [2, 1])
            #expect(try await store.installations(reportedSince: 1_000) == 2)
            #expect(try await store.installations(reportedSince: 2_001) == 0)
            // After a time, an installation is forgotten.
            let later = UnixMilliseconds(rawValue: 2_001) + AddReceipts.memory
            try await store.add([AddReceipts(installation: second, report: 8, received: [other.msiKey], opened: [])], now: later)
            try await store.add([reports[1]], now: later)
            #expect(try await receipts(of: one, in: store) == MessageReceipts(received: 2, opened: 2))
            #expect(try await receipts(of: other, in: store) == MessageReceipts(received: 2, opened: 0))
        }
    }

    @Test("Of made-up installations only so many are remembered, the newest", arguments: StoreKind.allCases)
    func madeUpInstallations(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let message = Self.taken()
            _ = try await store.insert(message)
            let phone = AddReceipts(installation: ObjectID(), report: 1, received: [message.msiKey], opened: [])
            try await store.add([phone], now: 1_000, maxInstallations: 10)
            for time in 2...21 {
                let report = AddReceipts(installation: ObjectID(), report: 1, received: [message.msiKey], opened: [])
                try await store.add([report], now: UnixMilliseconds(rawValue: Int64(time) * 1_000), maxInstallations: 10)
            }
            // The first one is forgotten: its repeated report counts.
            try await store.add([phone], now: 30_000, maxInstallations: 10)
            #expect(try await receipts(of: message, in: store) == MessageReceipts(received: 22, opened: 0))
        }
    }

    @Test("Made-up installations do not count against the archive's limit")
    func sizeWithoutInstallations() async throws {
        try await withTemporaryFolder { folder in
            let message = Self.taken()
            var sizes: [Int64] = []
            for reports in [1, 20_000] {
                let store = try SQLiteMessageStore(path: folder + "/message-log.sqlite")
                _ = try await store.insert(message)
                try await store.add(
                    (0..<reports).map { _ in
                        AddReceipts(installation: ObjectID(), report: 1, received: [message.msiKey], opened: [])
                    }, now: 1_000)
                try await store.close()
                // Without the write-ahead log.
                let again = try SQLiteMessageStore(path: folder + "/message-log.sqlite")
                sizes.append(try await again.size())
                try await again.close()
            }
            // They take up 1.7 MB.
            #expect(abs(sizes[1] - sizes[0]) < 300_000, "\(sizes)")
        }
    }

    @Test("Reports that are stored at the same time are all counted", arguments: StoreKind.allCases)
    func receiptsOfMany(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let message = Self.taken()
            _ = try await store.insert(message)
            try await concurrently(10) { _ in
                let reports = (0..<20).map { _ in
                    AddReceipts(installation: ObjectID(), report: 1, received: [message.msiKey], opened: [message.msiKey])
                }
                try await store.add(reports, now: .now)
            }
            #expect(try await receipts(of: message, in: store) == MessageReceipts(received: 200, opened: 200))
        }
    }

    @Test(
        "Messages that cannot have gone out do not count, and a report of nothing else is not remembered",
        arguments: StoreKind.allCases)
    func receiptsOfNothing(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let waiting = Self.message("waiting", sendAt: 50_000)
            // Its relay has not answered yet: FCM may have it.
            let leased = Self.message("leased", lease: Lease(owner: "o", until: 5))
            for message in [waiting, leased] { _ = try await store.insert(message) }
            let phone = ObjectID()
            let early = AddReceipts(
                installation: phone, report: 9, received: [waiting.msiKey, ObjectID()], opened: [waiting.msiKey])
            try await store.add([early], now: 1_000)
            #expect(try await receipts(of: waiting, in: store) == nil)
            // The number of the report of nothing was not stored.
            try await store.add([AddReceipts(installation: phone, report: 1, received: [leased.msiKey], opened: [])], now: 1_000)
            #expect(try await receipts(of: leased, in: store) == MessageReceipts(received: 1, opened: 0))
        }
    }

    @Test("Receipts are replaced by those of another archive, and removed with their message", arguments: StoreKind.allCases)
    func replacedReceipts(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let (old, new) = (Self.taken("old"), Self.taken("new"))
            for message in [old, new] { _ = try await store.insert(message) }
            try await store.set([:])
            for count: Int64 in [1, 3] {
                let receipts = MessageReceipts(received: count, opened: 1)
                try await store.set([old.msiKey: receipts, new.msiKey: receipts])
                #expect(try await store.receipts(of: [old.msiKey, new.msiKey]) == [old.msiKey: receipts, new.msiKey: receipts])
            }
            try await finish([old], in: store)
            #expect(try await store.removeArchived(before: 5_000, limit: 5) == 1)
            #expect(Array(try await store.receipts(of: [old.msiKey, new.msiKey]).keys) == [new.msiKey])
        }
    }

    @Test("In MongoDB, reports change no document of a message, which they would lock for the outbox")
    func receiptsBesideMessages() async throws {
        try await withMessagePlace(.mongodb) { place in
            let store = try await place.open()
            let message = Self.taken()
            _ = try await store.insert(message)
            let database = await MongoDatabase.open(try #require(place.database), application: "test", logger: quietLogger)
            let before = try await database.run { try $0.find([:], in: "message") }
            try await store.add(
                [AddReceipts(installation: ObjectID(), report: 1, received: [message.msiKey], opened: [])], now: 5)
            #expect(try await receipts(of: message, in: store)?.received == 1)
            #expect(try await database.run { try $0.find([:], in: "message") } == before)
            await database.close()
            try await store.close()
        }
    }
}
