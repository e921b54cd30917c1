import FoundationEssentials
import JSON
import Schemas
import TestSupport
import Testing

@testable import MessageStorage

/// What the archive keeps for the audit log, in both databases.
@Suite("Audit of messages", .timeLimit(.minutes(10)))
struct MessageAuditTests {
    private static let ann = AuditAuthor(actor: "ann", address: "192.0.2.7")

    /// The pending entries, decoded.
    private static func entries(_ store: any MessageStore) async throws -> [AuditEntry] {
        try await store.pendingAudit(limit: 100).map { try JSONCoder.decode(from: Data($0.json.utf8)) }
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
            let recall = MessageAudit(.recall, by: .program)
            try await store.update(message.msiKey, audit: recall) { record, _ in record.state = .recalled }
            try await store.close()

            let again = try await place.open()
            #expect(try await Self.entries(again) == [send.entry(of: message), recall.entry(of: message)])
            let pending = try await again.pendingAudit(limit: 100)
            let after = try #require(try await Self.entries(again).first?.after)
            #expect(after["topic_key"]?.string == "\(message.topicKey)")
            // printf Sent | sha256sum
            #expect(after["sha256"]?["title"]?.string == "c16bc82bf1f04ede04d1bc0bdf714b1a2e523ac5fa06fee7b9466c6d2d54af1e")
            #expect(!pending.contains { $0.json.contains(message.message) || $0.json.contains(message.title) })
            #expect(pending.allSatisfy { $0.msiKey == message.msiKey && !$0.isRefused })

            try await again.acknowledgeAudit([pending[0]])
            #expect(try await again.pendingAudit(limit: 100) == [pending[1]])
            try await again.acknowledgeAudit(pending)
            #expect(try await again.pendingAudit(limit: 100).isEmpty)
            #expect(try await again.auditBacklog() == AuditBacklog())
            try await again.close()
        }
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
            #expect(try await store.pendingAudit(limit: 100).isEmpty)
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

            let pending = try await store.pendingAudit(limit: 10)
            #expect(try await Self.entries(store) == [send.entry(of: audited)])
            #expect(try await store.storedAudit(after: nil, limit: 10) == pending)
            #expect(try await store.auditBacklog() == AuditBacklog(count: 1, oldest: send.id.created))
            try await store.acknowledgeAudit(pending)
            #expect(try await store.storedAudit(after: nil, limit: 10).isEmpty)
        }
    }

    @Test("Entries come in the order of their messages, and a limit applies", arguments: StoreKind.allCases)
    func order(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let messages = (0..<5).map { MessageStoreTests.message("\($0)") }
            for message in messages.shuffled() { _ = try await store.insert(message, audit: MessageAudit(.send, by: Self.ann)) }
            for _ in 0..<3 {
                try await store.update(messages[1].msiKey, audit: MessageAudit(.retry, by: Self.ann)) { record, _ in
                    record.attempts += 1
                }
            }
            let all = try await store.pendingAudit(limit: 100)
            let keys = messages.map(\.msiKey).sorted()
            #expect(all.compactMap(\.msiKey) == keys.flatMap { $0 == messages[1].msiKey ? Array(repeating: $0, count: 4) : [$0] })
            #expect(try await store.pendingAudit(limit: 2).prefix(1) == all.prefix(1))
            #expect(try await store.auditBacklog() == AuditBacklog(count: 8, oldest: all.map(\.id).min()?.created))

            var stored: [PendingAuditEntry] = []
            while case let page = try await store.storedAudit(after: stored.last?.id, limit: 3), !page.isEmpty { stored += page }
            #expect(stored == all.sorted { $0.id < $1.id })
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

    @Test("A refused entry is set aside, and counted", arguments: StoreKind.allCases)
    func refused(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let message = MessageStoreTests.message()
            _ = try await store.insert(message, audit: MessageAudit(.send, by: Self.ann))
            try await store.update(message.msiKey, audit: MessageAudit(.retry, by: Self.ann)) { record, _ in record.attempts += 1
            }
            let pending = try await store.pendingAudit(limit: 100)
            for _ in 0..<2 { try await store.refuseAudit(pending[0]) }
            #expect(try await store.pendingAudit(limit: 100) == [pending[1]])
            #expect(try await store.auditBacklog() == AuditBacklog(count: 1, oldest: pending[1].id.created, refused: 1))
            #expect(try await store.storedAudit(after: nil, limit: 9).map(\.isRefused) == [true, false])
        }
    }

    @Test("A move takes along pending and refused entries, once, also if it is repeated", arguments: StoreKind.allCases)
    func move(_ kind: StoreKind) async throws {
        try await withMessageStore(.sqlite) { source in
            let (message, removed) = (MessageStoreTests.message(), MessageStoreTests.message("Removed"))
            _ = try await source.insert(message, audit: MessageAudit(.send, by: Self.ann))
            _ = try await source.insert(MessageStoreTests.message("Acknowledged"))
            _ = try await source.insert(removed, audit: MessageAudit(.send, by: Self.ann))
            try await MessageStoreTests().finish([removed], in: source)
            #expect(try await source.removeArchived(before: 2_000, limit: 10) == 1)
            try await source.update(message.msiKey, audit: MessageAudit(.retry, by: Self.ann)) { record, _ in record.attempts += 1
            }
            try await source.refuseAudit(try #require(try await source.pendingAudit(limit: 1).first))
            try await withMessageStore(kind) { target in
                for _ in 0..<2 {
                    try await ArchiveMove(source: source, target: target, otherTarget: "another").copy { _ in }
                }
                #expect(try await target.storedAudit(after: nil, limit: 9) == source.storedAudit(after: nil, limit: 9))
                #expect(try await target.auditBacklog() == source.auditBacklog())
                #expect(try await target.auditBacklog().refused == 1)
            }
        }
    }
}
