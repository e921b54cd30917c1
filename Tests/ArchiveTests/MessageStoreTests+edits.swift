import Schemas
import Store
import TestSupport
import Testing
import Base

@testable import Archive

/// Edits of messages that have not gone out.
extension MessageStoreTests {
    @Test(
        "An edit replaces texts, options and times, and the search finds the new words only; a refused one changes nothing",
        arguments: StoreKind.allCases)
    func edit(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            var message = Self.message("Storm", text: "Stay inside", key: "k", sendAt: 5_000) {
                ($0.ttl, $0.drill, $0.template, $0.values) = (60, true, ObjectID(), ["a": "b"])
                $0.options = DeliveryOptions(image: "https://cdn.test/a.png")
            }
            message.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
            _ = try await store.insert(message)
            _ = try await store.insert(Self.message("Other"))
            var edited = message
            edited.content = MessageContent(
                title: "Wind", desc: "d", message: "Doors stay shut", topicKey: message.topicKey, distribution: .alert,
                sendAt: 8_000, options: DeliveryOptions(collapseKey: "k"))
            (edited.names.subject, edited.expires, edited.approval) = ("Weather", 9_000_001, true)
            (edited.relay.state, edited.relay.nextAttempt) = (.held, 9_000_001)
            edited.relay.leaveTrace(.edit, by: "ann", at: 2_000)
            let (expected, unedited) = (edited, message)
            let audit = MessageAudit(.edit, by: AuditAuthor(actor: "ann"))
            let changed = try await store.edit(message.msiKey, audit: audit) { stored in
                #expect(stored == unedited)
                stored = expected
            }
            #expect(changed == expected)
            #expect(try await store.message(message.msiKey) == expected)
            #expect(try await store.message(of: message.sender, idempotencyKey: "k") == expected)
            #expect(try await titles(store) { $0.text = SearchQuery("doors wind") } == ["Wind"])
            #expect(try await titles(store) { $0.text = SearchQuery("storm") } == [])
            #expect(try await titles(store) { $0.text = SearchQuery("inside") } == [])
            #expect(try await titles(store) { $0.state = .held } == ["Wind"])
            #expect(try await store.page(MessageFilter(), before: nil, limit: 9).count == 2)
            let entry = try audit.pending(of: expected)
            #expect(try await store.audit.pendingAudit(limit: 9) == [entry])

            await #expect(throws: CommandFailure(.conflict, "no")) {
                try await store.edit(message.msiKey, audit: audit) { stored in
                    stored.content.title = "Never"
                    throw CommandFailure(.conflict, "no")
                }
            }
            #expect(try await store.message(message.msiKey) == expected)
            #expect(try await store.edit(ObjectID(), audit: nil) { $0.content.title = "Nobody's" } == nil)
            try await finish([message], in: store)
            #expect(try await store.removeArchived(before: 2_000, limit: 9) == 1)
            #expect(try await titles(store) { $0.text = SearchQuery("wind") } == [])
        }
    }

    @Test("What a claim has leased is what is stored, however many edits come at the same moment", arguments: StoreKind.allCases)
    func editsBesideClaims(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let messages = (0..<30).map { Self.message("old \($0)") }
            for message in messages { _ = try await store.insert(message) }
            let claimed = try await concurrently(40) { number -> [Message] in
                guard number < messages.count else {
                    let lease = Lease(owner: "\(number)", until: 10_000)
                    return try await store.claim(Self.claim(3), lease: lease, now: 2_000).compactMap(\.message)
                }
                do {
                    try await store.edit(messages[number].msiKey, audit: nil) { message in
                        guard message.relay.lease == nil else { throw CommandFailure(.conflict, "leased") }
                        message.content.title = "new"
                        message.relay.leaveTrace(.edit, by: "ann", at: 1_500)
                    }
                } catch let failure as CommandFailure where failure.status == .conflict {}
                return []
            }.flatMap(\.self)
            #expect(!claimed.isEmpty)
            for message in claimed {
                let stored = try #require(try await store.message(message.msiKey))
                #expect(stored == message)
                #expect((stored.title == "new") == (stored.relay.edited != nil))
            }
        }
    }

    @Test("Edits and other changes at the same time are all kept", arguments: StoreKind.allCases)
    func editsBesideUpdates(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let message = Self.message("0")
            _ = try await store.insert(message)
            try await concurrently(20) { number in
                guard number % 2 == 0 else {
                    try await store.update(message.msiKey) { record, _ in record.attempts += 1 }
                    return
                }
                try await store.edit(message.msiKey, audit: nil) { $0.content.title = "\((Int($0.title) ?? 0) + 1)" }
            }
            let stored = try await store.message(message.msiKey)
            #expect(stored?.title == "10" && stored?.relay.attempts == 10)
            #expect(try await titles(store) { $0.text = SearchQuery("10") } == ["10"])
            #expect(try await titles(store) { $0.text = SearchQuery("9") } == [])
        }
    }

    @Test("The trace keeps what the approval of the present text depends on")
    func approvalInTrace() {
        var record = RelayRecord(logged: .alert, due: 5)
        #expect(!record.isApproved && record.edited == nil)
        record.leaveTrace(.approve, by: "ben", at: 1)
        #expect(record.isApproved)
        record.leaveTrace(.edit, by: "ann", at: 2)
        #expect(!record.isApproved && record.edited == 2)
        for time in 3..<40 { record.leaveTrace(.retry, by: "ann", at: UnixMilliseconds(rawValue: Int64(time))) }
        #expect(!record.isApproved && record.edited == 2 && record.trace?.count == 20)
        record.leaveTrace(.approve, by: "ben", at: 41)
        #expect(record.isApproved)
    }
}
