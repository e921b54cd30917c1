import Foundation
import JSON
import MongoDatabase
import Schemas
import TestSupport
import Testing
import Time

@testable import MessageStorage

/// Archives of a version of the product before pushes. `Archives/` has their files, and their messages as
/// `message.list` returned them.
@Suite("Archives of former versions", .timeLimit(.minutes(10)))
struct FormerArchiveTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Archives")

    private static func file(_ kind: StoreKind) -> URL {
        folder.appending(path: kind == .sqlite ? "before-pushes.sqlite" : "before-pushes.jsonl")
    }

    /// The messages as `message.list` returned them, newest first.
    private static func told(_ kind: StoreKind) throws -> [Message] {
        try JSONCoder.decode(from: Data(contentsOf: URL(filePath: file(kind).path(percentEncoded: false) + ".json")))
    }

    private func withFormerArchive(_ kind: StoreKind, _ body: (any MessageStore) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            var place = MessagePlace(folder: folder, database: nil)
            let path = Self.file(kind).path(percentEncoded: false)
            if let url = try await kind.newDatabaseURL() {
                place = MessagePlace(folder: folder, database: try MongoURL(url))
                _ = try await PythonScript.run("load_collection.py", [url, "message", path])
            } else {
                try FileManager.default.copyItem(atPath: path, toPath: folder + "/message-log.sqlite")
            }
            let store = try await place.open()
            try await body(store)
            try await store.close()
        }
    }

    @Test("Every message is read, found and claimed as before", arguments: StoreKind.allCases)
    func messages(_ kind: StoreKind) async throws {
        try await withFormerArchive(kind) { store in
            var told = try Self.told(kind)
            #expect(told.map(\.title) == ["waiting", "recalled", "scheduled", "retrying", "failed", "relayed"])
            var stored = try await store.page(MessageFilter(), before: nil, limit: 50)
            // The waiting message was leased when it was listed. The lease was released when the service stopped.
            #expect(stored[0].relay.lease == nil)
            (told[0].relay.lease, told[0].relay.nextAttempt) = (nil, nil)
            stored[0].relay.nextAttempt = nil
            #expect(stored == told)
            #expect(try await store.message(of: "Communicator", idempotencyKey: "first")?.title == "relayed")

            let due = UnixMilliseconds.now + 86_400_000
            let lease = Lease(owner: "me", until: due + 30_000)
            let alerts = try await store.claim(Claim(.high, limit: 9, maxPerKey: 9), lease: lease, now: due)
            #expect(alerts.map(\.message?.title) == ["retrying"])
            let information = try await store.claim(Claim(.normal, limit: 9, maxPerKey: 9), lease: lease, now: due)
            #expect(information.map(\.message?.title) == ["waiting"])
            try await store.update(information[0].key) { record, _ in record.state = .relayed }
            #expect(try await store.message(stored[0].msiKey)?.relay.state == .relayed)
        }
    }

    @Test(
        "A search finds new messages at once, and those of before as soon as their words are made again",
        arguments: StoreKind.allCases)
    func search(_ kind: StoreKind) async throws {
        try await withFormerArchive(kind) { store in
            func found(_ query: String) async throws -> [String] {
                var filter = MessageFilter()
                filter.text = SearchQuery(query)
                return try await store.page(filter, before: nil, limit: 9).map(\.title)
            }
            _ = try await store.insert(MessageStoreTests.message("Schluß", at: .now))
            #expect(try await found("SCHLUSS") == ["Schluß"])
            #expect(try await found("lines retry*") == [])
            while try await store.addToSearch(limit: 2) > 0 {}
            #expect(try await found("SCHLUSS") == ["Schluß"])
            #expect(try await found("lines DE\u{301}JA\u{300} retry*") == ["retrying"])
            #expect(try await store.addToSearch(limit: 2) == 0)
            #expect(try await store.removeArchived(before: .now + 86_400_000, limit: 9) == 3)
            #expect(try await found("recalled") == [])
        }
    }

    @Test(
        "Messages of the time before the audit log count as recorded: they are removed by age, and a later retry is recorded",
        arguments: StoreKind.allCases)
    func audit(_ kind: StoreKind) async throws {
        try await withFormerArchive(kind) { store in
            #expect(try await store.pendingAudit(limit: 9).isEmpty)
            let stored = try await store.page(MessageFilter(), before: nil, limit: 50)
            let failed = try #require(stored.first { $0.title == "failed" })
            let retry = MessageAudit(.retry, by: AuditAuthor(actor: "ann"))
            try await store.update(failed.msiKey, audit: retry) { record, _ in record.attempts += 1 }
            #expect(try await store.pendingAudit(limit: 9).map(\.id) == [retry.id])
            // The relayed, the recalled and the failed one. The entry outlives its message.
            #expect(try await store.removeArchived(before: .now + 86_400_000, limit: 9) == 3)
            #expect(try await store.message(failed.msiKey) == nil)
            #expect(try await store.pendingAudit(limit: 9).map(\.id) == [retry.id])
        }
    }

    @Test(
        "A message that a former version has handed to FCM is found, so that it gets a place for phones",
        arguments: StoreKind.allCases)
    func withoutAcceptance(_ kind: StoreKind) async throws {
        try await withFormerArchive(kind) { store in
            let found = try await store.withoutAcceptance(endedSince: 0)
            let titles = try Self.told(kind).filter { found.contains($0.msiKey) }.map(\.title)
            #expect(titles == ["relayed"])
            #expect(try await store.receipts(of: found).isEmpty)
        }
    }

    @Test("Pushes are stored in addition to the messages, and are in no history", arguments: StoreKind.allCases)
    func pushes(_ kind: StoreKind) async throws {
        try await withFormerArchive(kind) { store in
            let push = PushStoreTests.push("k")
            let known = try await store.insert(push)
            #expect(known == nil)
            #expect(try await store.push(push.id) == push)
            #expect(try await store.page(MessageFilter(), before: nil, limit: 50).count == 6)
        }
    }
}
