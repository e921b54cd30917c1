import FoundationEssentials
import Base
import Store
import Schemas
import TestSupport
import Testing

@testable import Archive

/// What the archive keeps for the audit log, in both databases.
@Suite("Audit of messages", .timeLimit(.minutes(10)))
struct MessageAuditTests {
    private static let ann = AuditAuthor(actor: "ann", address: "192.0.2.7")

    /// The pending entries, decoded.
    private static func entries(_ store: any MessageStore) async throws -> [AuditEntry] {
        try await store.audit.pendingAudit(limit: 100).map { try JSONCoder.decode(from: Data($0.json.utf8)) }
    }

    @Test(
        "An entry about a message is pending until the audit log acknowledges it, with the topic and digests of the message",
        arguments: StoreKind.allCases)
    func pending(_ kind: StoreKind) async throws {
        try await withMessagePlace(kind) { place in
            let store = try await place.open()
            let message = MessageStoreTests.message("Sent", text: "No text is recorded.")
            let send = MessageAudit(.send, by: Self.ann)
            #expect(try await store.insert(message, audit: send) == nil)
            _ = try await store.insert(MessageStoreTests.message("Copied"))
            let recall = MessageAudit(.recall, by: .program, reason: "wrong room")
            try await store.update(message.msiKey, audit: recall) { record, _ in record.state = .recalled }
            try await store.close()

            let again = try await place.open()
            #expect(try await Self.entries(again) == [send.entry(of: message), recall.entry(of: message)])
            let pending = try await again.audit.pendingAudit(limit: 100)
            #expect(try await Self.entries(again).map { $0.after?["reason"]?.string } == [nil, "wrong room"])
            let after = try #require(try await Self.entries(again).first?.after)
            #expect(after["topic_key"]?.string == "\(message.topicKey)")
            // printf Sent | sha256sum
            #expect(after["sha256"]?["title"]?.string == "c16bc82bf1f04ede04d1bc0bdf714b1a2e523ac5fa06fee7b9466c6d2d54af1e")
            #expect(!pending.contains { $0.json.contains(message.message) || $0.json.contains(message.title) })

            try await again.audit.acknowledgeAudit([pending[0]])
            #expect(try await again.audit.pendingAudit(limit: 100) == [pending[1]])
            try await again.audit.acknowledgeAudit(pending)
            #expect(try await again.audit.pendingAudit(limit: 100).isEmpty)
            #expect(try await again.audit.auditBacklog() == AuditBacklog())
            try await again.close()
        }
    }

    @Test(
        "An entry is stored as the audit log's own JSON",
        arguments: [
            MessageAudit(.send, by: ann), MessageAudit(.send, by: .program), MessageAudit(.edit, by: AuditAuthor(actor: "\"ä\n")),
            MessageAudit(.recall, by: ann, reason: "wrong \"room\""),
        ])
    func json(_ audit: MessageAudit) throws {
        let message = MessageStoreTests.message("Sent")
        let pending = try audit.pending(of: message)
        #expect(
            try pending
                == PendingAuditEntry(
                    id: audit.id, json: String(decoding: JSONCoder.encode(audit.entry(of: message)), as: UTF8.self)))
    }

    @Test("A message that is stored already, and a change that is refused, leave nothing", arguments: StoreKind.allCases)
    func refusedChange(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let message = MessageStoreTests.message()
            _ = try await store.insert(message)
            #expect(try await store.insert(message, audit: MessageAudit(.send, by: Self.ann)) != nil)
            await #expect(throws: CommandFailure.self) {
                try await store.update(message.msiKey, audit: MessageAudit(.recall, by: Self.ann)) { _, _ in
                    throw CommandFailure(.conflict, "too late")
                }
            }
            let absent = try await store.update(ObjectID(), audit: MessageAudit(.retry, by: Self.ann)) { _, _ in }
            #expect(absent == nil)
            #expect(try await store.audit.pendingAudit(limit: 100).isEmpty)
        }
    }

    @Test("An old message is removed, and what was done with it stays pending", arguments: StoreKind.allCases)
    func retention(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let (audited, old) = (MessageStoreTests.message("Audited"), MessageStoreTests.message("Old"))
            let send = MessageAudit(.send, by: Self.ann)
            _ = try await store.insert(audited, audit: send)
            _ = try await store.insert(old)
            try await MessageStoreTests().finish([audited, old], in: store)
            #expect(try await store.removeArchived(before: 2_000, limit: 10) == 2)
            #expect(try await store.message(audited.msiKey) == nil)

            let pending = try await store.audit.pendingAudit(limit: 10)
            #expect(try await Self.entries(store) == [send.entry(of: audited)])
            #expect(try await store.audit.auditBacklog() == AuditBacklog(count: 1, oldest: send.id.created))
            try await store.audit.acknowledgeAudit(pending)
            #expect(try await store.audit.auditBacklog() == AuditBacklog())
        }
    }

    @Test("Entries come in the order in which they were made, and a limit applies", arguments: StoreKind.allCases)
    func order(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let messages = (0..<5).map { MessageStoreTests.message("\($0)") }
            let sent = messages.map { _ in MessageAudit(.send, by: Self.ann) }
            for (message, send) in zip(messages, sent).shuffled() { _ = try await store.insert(message, audit: send) }
            let retries = (0..<3).map { _ in MessageAudit(.retry, by: Self.ann) }
            for retry in retries {
                try await store.update(messages[1].msiKey, audit: retry) { record, _ in record.attempts += 1 }
            }
            let all = try await store.audit.pendingAudit(limit: 100)
            #expect(all.map(\.id) == (sent + retries).map(\.id))
            #expect(try await store.audit.pendingAudit(limit: 2) == Array(all.prefix(2)))
            #expect(try await store.audit.auditBacklog() == AuditBacklog(count: 8, oldest: all[0].id.created))
        }
    }

    @Test("What was done with a message that another program has spoilt is still pending", arguments: StoreKind.allCases)
    func unreadable(_ kind: StoreKind) async throws {
        try await withMessagePlace(kind) { place in
            let store = try await place.open()
            let message = MessageStoreTests.message()
            let send = MessageAudit(.send, by: Self.ann)
            _ = try await store.insert(message, audit: send)
            try await place.spoil(message.msiKey, column: "distribution", field: "distribution")
            #expect(try await Self.entries(store) == [send.entry(of: message)])
            try await store.close()
        }
    }

    @Test("An entry that another program has spoilt in its message's document still names the message")
    func spoiltEntry() async throws {
        try await withMessagePlace(.mongodb) { place in
            let store = try #require(try await place.open() as? MongoMessageStore)
            let messages = (0..<2).map { MessageStoreTests.message("\($0)") }
            for (message, spoilt) in zip(messages, ["{", 5] as [BSONValue]) {
                _ = try await store.insert(message, audit: MessageAudit(.send, by: Self.ann))
                _ = try await store.database.run {
                    try $0.update(["msi_key": message.msiKey.bson], ["$set": ["audit.0.entry": spoilt]], in: "message")
                }
            }
            let named = try await store.audit.pendingAudit(limit: 100).map { pending in
                try JSONValue(parsing: Data(pending.json.utf8))["object"]?["id"]?.string
            }
            #expect(named == messages.map { "\($0.msiKey)" })
            await store.close()
        }
    }

    @Test("A move to files takes along an entry that is still in its message's document")
    func moved() async throws {
        try await withMessagePlace(.mongodb) { place in
            let source = try await place.open()
            let message = MessageStoreTests.message()
            let send = MessageAudit(.send, by: Self.ann)
            _ = try await source.insert(message, audit: send)
            try await source.close()

            let places = MovePlaces(folder: place.folder, url: try #require(place.database), target: .sqlite)
            for part in [MovableArchive(), MovableCollections()] as [any MovableStore] {
                let move = try await part.open(places)
                try await move.copy { _ in }
                try await move.close()
            }
            let target = try await MessagePlace(folder: place.folder, database: nil).open()
            #expect(try await target.message(message.msiKey) == message)
            #expect(try await Self.entries(target) == [send.entry(of: message)])
            try await target.close()
        }
    }

    @Test("A refused entry is set aside, and counted", arguments: StoreKind.allCases)
    func refused(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let message = MessageStoreTests.message()
            _ = try await store.insert(message, audit: MessageAudit(.send, by: Self.ann))
            try await store.update(message.msiKey, audit: MessageAudit(.retry, by: Self.ann)) { record, _ in record.attempts += 1
            }
            let pending = try await store.audit.pendingAudit(limit: 100)
            for _ in 0..<2 { try await store.audit.refuseAudit(pending[0]) }
            #expect(try await store.audit.pendingAudit(limit: 100) == [pending[1]])
            #expect(try await store.audit.auditBacklog() == AuditBacklog(count: 1, oldest: pending[1].id.created, refused: 1))
            try await store.audit.acknowledgeAudit(pending)
            #expect(try await store.audit.auditBacklog() == AuditBacklog(refused: 1))
        }
    }
}
