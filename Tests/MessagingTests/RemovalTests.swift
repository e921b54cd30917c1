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
        arguments: StoreKind.allCases)
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

    @Test("What nobody has read stays, whatever has it, and many read messages go at once", arguments: StoreKind.allCases)
    func many(kind: StoreKind) async throws {
        try await RemovalHarness.with(kind) { harness in
            var last = try await harness.send("unread", from: "bob", to: "ann")
            for number in 0..<3 { last = try await harness.send("\(number)", from: "ann", to: "bob") }
            try await harness.removals.messages.look()
            #expect(try await harness.texts().count == 4)
            // More than one transaction removes.
            let first = last.number
            try await harness.store.transaction { transaction in
                let messages = (1...450).map { number in
                    DirectMessageDocument(
                        id: ObjectID(), conversation: "ann bob", number: first + Int64(number), count: number + 3, to: "bob",
                        toName: "bob", from: "ann", fromName: "ann", toPosition: first + Int64(number),
                        fromPosition: first + Int64(number), text: "many", picture: nil, at: 1_000, classmate: nil)
                }
                try transaction.insert(all: messages, into: MessagingStore.messages)
                try transaction.update("bob", in: MessagingStore.persons) { person in
                    person.waiting += 450
                    person.position = first + 450
                }
                try transaction.update("ann bob", in: MessagingStore.conversations) { conversation in
                    conversation["bob"].read = first + 450
                    conversation["bob"].readCount = 453
                    conversation.due = 0
                }
            }
            try await whenAvailable { try await harness.removals.messages.look() }
            #expect(try await harness.texts() == ["unread"])
            #expect(try await harness.store.get("bob", from: MessagingStore.persons)?.waiting == 0)
            let conversation = try #require(try await harness.conversation("ann bob"))
            #expect(conversation.due == nil && conversation["bob"].removed == first + 450)
            #expect(harness.removals.messages.overdue == .zero)
        }
    }

    @Test("What is between two who may not write to each other any more goes, without a mark", arguments: StoreKind.allCases)
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
                let conversation = try await store.get("ann bob", from: MessagingStore.conversations)?.document
                for account in ["ann", "bob"] {
                    let side = try #require(conversation)[account]
                    #expect(side.removed == 0 && side.expired == 0 && side.readCount == 1)
                }
                #expect(try await store.get("ann", from: MessagingStore.persons)?.waiting == 0)
            }
            messaging.people.befriend("ann", "bob")
            let again = try await bob.conversation(with: "ann")
            #expect(again.messages.isEmpty && again.conversation.unread == 0)
        }
    }

    @Test("Without its line in the log nothing is removed", arguments: StoreKind.allCases)
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
