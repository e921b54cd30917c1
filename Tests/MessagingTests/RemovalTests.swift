import Base
import Bus
import FoundationEssentials
import Schemas
import ServiceKit
import Store
import TestSupport
import Testing

@testable import Messaging

/// When messages that were read are removed, by the running service.
@Suite("Removal of read messages", .timeLimit(.minutes(10)))
struct RemovalTests {
    @Test("A message goes once it was read and each device has it; the sender's marks stay", arguments: StoreKind.allCases)
    func devices(kind: StoreKind) async throws {
        let clock = TestClock()
        try await RunningMessaging.with(kind, clock: clock) { messaging in
            let (ann, phone) = (messaging.person("ann"), messaging.person("bob"))
            let laptop = phone.elsewhere
            messaging.people.setDevices([phone.device, laptop.device], of: "bob")
            _ = try await laptop.news()
            var sent: [DirectMessage] = []
            for text in ["one", "two", "three"] { sent.append(try await ann.send(text, to: "bob")) }
            try await phone.receive()
            try await phone.read(sent[1])
            try await messaging.withStore { store in
                // It has looked, and the laptop does not have them.
                try await eventually("the look") {
                    try await store.get("ann bob", from: MessagingStore.conversations)?.due == clock.now + .seconds(3_600)
                }
                #expect(try await store.texts() == ["one", "two", "three"])
                try await laptop.receive()
                try await eventually("the removal") { try await store.texts() == ["three"] }
                #expect(try await store.get("bob", from: MessagingStore.persons)?.waiting == 1)
                #expect(try await store.get("ann bob", from: MessagingStore.conversations)?.document.due == nil)
                #expect(try await store.get(sent[0].id, from: MessagingStore.digests) != nil)
            }
            let page = try await ann.conversation(with: "bob")
            #expect(page.messages.map(\.id) == [sent[2].id])
            #expect(page.conversation.read == sent[1].number && page.conversation.delivered == sent[2].number)
            let own = try await laptop.conversation(with: "ann").conversation
            #expect(own.removed == sent[1].number && own.unread == 1)
            // Nothing of it is in the log but places and numbers.
            let log = try String(contentsOfFile: messaging.folder + "/" + MessagingFiles.removed, encoding: .utf8)
            #expect(log.contains(" \(sent[1].number)\n") && !log.contains("ann") && !log.contains("bob"))
        }
    }

    @Test(
        "A device that was away for a week, and one that was signed out, hold nothing back; the first sees that there was more",
        arguments: StoreKind.ofRules)
    func absent(kind: StoreKind) async throws {
        let clock = TestClock()
        try await RunningMessaging.with(kind, clock: clock) { messaging in
            let (ann, phone) = (messaging.person("ann"), messaging.person("bob"))
            let (away, ended) = (phone.elsewhere, phone.elsewhere)
            messaging.people.setDevices([phone.device, away.device], of: "bob")
            _ = try await away.news()
            clock.pass(MessagingLimits.activeTime)
            _ = try await ended.news()
            let sent = try await ann.send("hello", to: "bob")
            try await phone.receive()
            try await phone.read(sent)
            try await messaging.withStore { store in
                try await eventually("the removal") { try await store.texts().isEmpty }
                #expect(try await store.get(ended.device, from: MessagingStore.devices) == nil)
                #expect(try await store.get(away.device, from: MessagingStore.devices) != nil)
            }
            let news = try await away.news()
            #expect(news.messages.isEmpty && news.conversations.map(\.removed) == [sent.number])
        }
    }

    @Test("What nobody has read stays, whatever has it, and many read messages go at once", arguments: StoreKind.ofRules)
    func many(kind: StoreKind) async throws {
        try await RemovalHarness.with(kind) { harness in
            var last = try await harness.send("unread", from: "bob", to: "ann")
            for number in 0..<3 { last = try await harness.send("\(number)", from: "ann", to: "bob") }
            try await harness.removals.messages.look()
            #expect(try await harness.texts().count == 4)
            // One transaction removes 200.
            let position = last.number
            let messages = DirectMessageDocument.many(
                250, from: "ann", to: "bob", behind: last, place: 3, position: position)
            try await harness.store.transaction { transaction in
                try transaction.insert(all: messages, into: MessagingStore.messages)
                try transaction.update("bob", in: MessagingStore.persons) { person in
                    person.waiting += 250
                    person.position = position + 250
                }
                try transaction.update("ann bob", in: MessagingStore.conversations) { conversation in
                    conversation["bob"].read = position + 250
                    conversation["bob"].readCount = 253
                    conversation.due = 0
                }
            }
            try await whenAvailable { try await harness.removals.messages.look() }
            #expect(try await harness.texts() == ["unread"])
            #expect(try await harness.store.get("bob", from: MessagingStore.persons)?.waiting == 0)
            let conversation = try #require(try await harness.conversation("ann bob"))
            #expect(conversation.due == nil && conversation["bob"].removed == position + 250)
            #expect(harness.removals.messages.overdue == .zero)
        }
    }

    @Test("What is between two who may not write to each other any more goes, without a mark", arguments: StoreKind.ofRules)
    func parted(kind: StoreKind) async throws {
        try await RunningMessaging.with(kind, clock: TestClock()) { messaging in
            let (ann, bob) = (messaging.person("ann"), messaging.person("bob"))
            _ = try await ann.send("to bob", to: "bob")
            _ = try await bob.send("to ann", to: "ann")
            let kept = try await messaging.person("cleo").send("hello", to: "bob")
            messaging.people.block("ann", "bob")
            #expect(try await bob.news().messages.map(\.id) == [kept.id])
            try await messaging.withStore { store in
                #expect(try await store.texts() == ["hello"])
                let stored = try await store.get("ann bob", from: MessagingStore.conversations)?.document
                let conversation = try #require(stored)
                for account in ["ann", "bob"] {
                    let side = conversation[account]
                    #expect(side.removed == 0 && side.expired == 0 && side.readCount == 1)
                }
                #expect(try await store.get("ann", from: MessagingStore.persons)?.waiting == 0)
            }
            messaging.people.befriend("ann", "bob")
            let again = try await bob.conversation(with: "ann")
            #expect(again.messages.isEmpty && again.conversation.unread == 0)
        }
    }

    @Test("What cannot be removed is overdue for the operator, until it is removed")
    func overdue() async throws {
        let clock = TestClock()
        try await withTemporaryFolder { folder in
            let log = folder + "/" + MessagingFiles.removed
            try FileManager.default.createDirectory(atPath: log, withIntermediateDirectories: false)
            try await RunningMessaging.with(in: folder, clock: clock) { messaging in
                let (ann, bob, client) = (messaging.person("ann"), messaging.person("bob"), messaging.client)
                let sent = try await ann.send("hello", to: "bob")
                try await bob.receive()
                try await bob.read(sent)
                clock.pass(.seconds(90))
                try await eventually("the operator learns it") {
                    try await client.request(CountMessaging()).overdue == .seconds(90)
                }
                let counted = try await client.request(CountMessaging())
                #expect(counted.messages == 1 && counted.due == sent.at)
                #expect(messaging.log.has("the log of removed messages cannot be written"))

                try FileManager.default.removeItem(atPath: log)
                let later = try await eventually("nothing is overdue") {
                    let reply = try await client.request(CountMessaging())
                    return reply.due == nil ? reply : nil
                }
                #expect(later.messages == 0 && later.overdue == .zero)
            }
        }
    }

    @Test("Without its line in the log nothing is removed", arguments: StoreKind.ofRules)
    func noLog(kind: StoreKind) async throws {
        try await RemovalHarness.with(kind) { harness in
            try FileManager.default.createDirectory(atPath: harness.log.path, withIntermediateDirectories: false)
            let sent = try await harness.send("hello", from: "ann", to: "bob")
            try await harness.read(sent)
            let failure = await #expect(throws: CommandFailure.self) { try await harness.removals.messages.look() }
            #expect(failure?.status == .unavailable && failure?.message.contains(harness.folder) == false)
            await #expect(throws: CommandFailure.self) { try await harness.removals.messages.part("ann", "bob") }
            #expect(try await harness.texts() == ["hello"])
            // What the loop could not do is overdue.
            harness.clock.pass(.seconds(90))
            #expect(harness.removals.messages.overdue == .seconds(90))
            try FileManager.default.removeItem(atPath: harness.log.path)
            try await whenAvailable { try await harness.removals.messages.look() }
            #expect(try await harness.texts().isEmpty)
        }
    }
}
