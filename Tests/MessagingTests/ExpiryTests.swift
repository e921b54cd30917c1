import Base
import Schemas
import Store
import TestSupport
import Testing

@testable import Messaging

/// Messages that have waited for too long, and what else is kept for a time.
@Suite("Expiry of messages", .timeLimit(.minutes(10)))
struct ExpiryTests {
    private static let day = Milliseconds.seconds(86_400)

    @Test("After four weeks a message that nobody read goes, and both learn it", arguments: StoreKind.ofRules)
    func expired(kind: StoreKind) async throws {
        let clock = TestClock()
        try await RunningMessaging.with(kind, clock: clock) { messaging in
            let (ann, bob) = (messaging.person("ann"), messaging.person("bob"))
            let read = try await ann.send("read", to: "bob")
            _ = try await bob.receive()
            let (laptop, known) = (bob.elsewhere, try await ann.receive().after)
            messaging.people.setDevices([bob.device, laptop.device], of: "bob")
            _ = try await laptop.news()
            let unread = try await ann.send("unread", to: "bob")
            try await bob.read(read)
            clock.pass(Self.day * 28 - 1)
            let last = try await ann.send("last", to: "bob")
            try await messaging.withStore { store in
                clock.pass(1)
                try await eventually("the expiry") { try await store.texts() == ["last"] }
                #expect(try await store.get("bob", from: MessagingStore.persons)?.waiting == 1)
            }
            // What was read was not lost.
            let news = try await ann.news(after: known)
            let seen = try #require(news.conversations.first)
            #expect(seen.expired == unread.number && seen.read == read.number && seen.delivered == read.number)
            let own = try #require(try await bob.news().conversations.first)
            #expect(own.unread == 1 && own.removed == unread.number && own.last == last.number)
        }
    }

    @Test("While nine tenths of the storage are used it is two weeks", arguments: StoreKind.ofRules)
    func nearlyFull(kind: StoreKind) async throws {
        try await RemovalHarness.with(kind) { harness in
            let messages = harness.removals.messages
            let relaxed = Expiry(changes: harness.changes, removal: messages) { false }
            let full = Expiry(changes: harness.changes, removal: messages) { true }
            for number in 0..<3 {
                _ = try await harness.send("\(number)", from: "ann", to: "bob")
                _ = try await harness.send("\(number)", from: "cleo", to: "bob")
                harness.clock.pass(Self.day)
            }
            // Two weeks after the second ones.
            harness.clock.pass(Self.day * 12)
            #expect(try await relaxed.due() == nil)
            #expect(try await full.due() == harness.clock.now - Self.day)
            try await whenAvailable { try await relaxed.round() }
            #expect(try await harness.texts().count == 6)
            try await whenAvailable { try await full.round() }
            #expect(try await harness.texts() == ["2", "2"])
            #expect(try await full.due() == nil)
        }
    }

    @Test(
        "Conversations go with their last digest, closed reports and devices after their time, and others stay",
        arguments: StoreKind.ofRules)
    func old(kind: StoreKind) async throws {
        try await RemovalHarness.with(kind) { harness in
            let digest = try await harness.digests.digest()
            let sent = try await harness.send("hello", from: "ann", to: "bob")
            let other = try await harness.send("again", from: "cleo", to: "bob")
            try await harness.read(sent)
            try await whenAvailable { try await harness.removals.messages.look() }
            let reports = try await whenAvailable {
                try await harness.changes.make(by: .program) { change in
                    try [sent, other].map { message -> ObjectID in
                        let draft = ReportDraft(message: message.id, account: message.from, text: message.text)
                        return try change.report(draft, by: "bob", digest).id
                    }
                }
            }
            try await whenAvailable {
                try await harness.changes.make(by: .program) { change in
                    _ = try change.closeReport(reports[0], by: "admin")
                }
            }
            let old = OldDocuments(changes: harness.changes)
            harness.clock.pass(Self.day * 30 - 1)
            try await whenAvailable { try await old.round() }
            #expect(try await harness.store.get(reports[0], from: MessagingStore.reports) != nil)
            #expect(try await harness.store.page(of: MessagingStore.devices, limit: 9).documents.count == 1)
            harness.clock.pass(Self.day * 60 + 1)
            try await whenAvailable { try await old.round() }
            #expect(try await harness.store.page(of: MessagingStore.devices, limit: 9).documents.isEmpty)
            #expect(try await harness.store.get(reports[0], from: MessagingStore.reports) == nil)
            #expect(try await harness.store.get(reports[1], from: MessagingStore.reports) != nil)
            #expect(try await harness.conversation("ann bob") == nil)
            // A message of it is still to be removed.
            #expect(try await harness.conversation("bob cleo") != nil)
            try await whenAvailable { try await harness.removals.expiry.round() }
            try await whenAvailable { try await old.round() }
            #expect(try await harness.conversation("bob cleo") == nil)
        }
    }
}
