import Schemas
import TestSupport
import Testing
import Time

@testable import MessageStorage

/// What phones report.
extension MessageStoreTests {
    @Test("Reports are counted once, in their order, and unknown messages are left out", arguments: StoreKind.allCases)
    func receipts(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let (one, other) = (Self.message("1"), Self.message("2"))
            for message in [one, other] { _ = try await store.insert(message) }
            let (first, second) = (ObjectID(), ObjectID())
            #expect(try await store.message(one.msiKey)?.receipts == nil)
            let reports = [
                AddReceipts(installation: first, report: 1, received: [one.msiKey, other.msiKey, one.msiKey], opened: []),
                AddReceipts(installation: first, report: 2, received: [], opened: [one.msiKey]),
                AddReceipts(installation: first, report: 2, received: [], opened: [one.msiKey]),
                AddReceipts(installation: second, report: 7, received: [one.msiKey, ObjectID()], opened: []),
            ]
            try await store.add(reports, now: 1_000)
            // Repeated, and late.
            try await store.add(reports, now: 2_000)
            #expect(try await store.message(one.msiKey)?.receipts == MessageReceipts(received: 2, opened: 1))
            #expect(try await store.message(other.msiKey)?.receipts == MessageReceipts(received: 1, opened: 0))
            // A change of the message keeps the counts.
            try await store.update(one.msiKey) { record, _ in record.accepted = 5 }
            #expect(try await store.message(one.msiKey)?.receipts == MessageReceipts(received: 2, opened: 1))
            // After a time, an installation is forgotten.
            let later = UnixMilliseconds(rawValue: 2_001) + AddReceipts.memory
            try await store.add([AddReceipts(installation: second, report: 8, received: [other.msiKey], opened: [])], now: later)
            try await store.add([reports[1]], now: later)
            #expect(try await store.message(one.msiKey)?.receipts == MessageReceipts(received: 2, opened: 2))
            #expect(try await store.message(other.msiKey)?.receipts == MessageReceipts(received: 2, opened: 0))
        }
    }

    @Test("Reports that are stored at the same time are all counted", arguments: StoreKind.allCases)
    func receiptsOfMany(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let message = Self.message()
            _ = try await store.insert(message)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<10 {
                    group.addTask {
                        let reports = (0..<20).map { _ in
                            AddReceipts(installation: ObjectID(), report: 1, received: [message.msiKey], opened: [message.msiKey])
                        }
                        try await store.add(reports, now: .now)
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await store.message(message.msiKey)?.receipts == MessageReceipts(received: 200, opened: 200))
        }
    }
}
