import Base
import Schemas
import Store
import TestSupport
import Testing

@testable import Messaging

/// What the sender and the other devices of the recipient learn of a message.
@Suite("Sent, delivered and read", .timeLimit(.minutes(10)))
struct MarkTests {
    @Test(
        "A message is delivered with the first device that has it, and read with the first that says so",
        arguments: StoreKind.ofRules)
    func marks(kind: StoreKind) async throws {
        try await RunningMessaging.with(kind, settings: MessagingEventReader.settings, clock: TestClock()) { messaging in
            let (ann, phone) = (messaging.person("ann"), messaging.person("bob"))
            let laptop = phone.elsewhere
            messaging.people.setDevices([phone.device, laptop.device], of: "bob")
            var events = try await MessagingEventReader(messaging)
            func marks() async throws -> [Int64?] {
                let conversation = try await ann.conversation(with: "bob").conversation
                return [conversation.delivered, conversation.read]
            }
            var sent: [DirectMessage] = []
            for text in ["1", "2", "3"] { sent.append(try await ann.send(text, to: "bob")) }
            _ = try await events.next(6)
            let known = try await ann.news().after
            let page = try await phone.news(limit: 2)
            #expect(page.messages == Array(sent[0...1]))
            #expect(try await marks() == [nil, nil])
            try await phone.confirm(page.after)
            #expect(try await marks() == [sent[1].number, nil])
            #expect(try await events.next(1) == ["ann \(sent[1].id)"])
            // Repeated, and by another device, it changes nothing.
            try await phone.confirm(page.after)
            try await laptop.confirm(page.after)
            let news = try await ann.news(after: known)
            #expect(news.messages.isEmpty && news.conversations.map(\.delivered) == [sent[1].number])

            try await phone.read(sent[1])
            #expect(try await marks() == [sent[1].number, sent[1].number])
            #expect(try await events.next(2) == ["ann \(sent[1].id)", "bob \(sent[1].id)"])
            // The other device learns what was read.
            let other = try await laptop.news(after: page.after)
            #expect(other.conversations.map(\.unread) == [1] && other.conversations.map(\.seen) == [sent[1].number])
            // Nothing of this changes anything, or tells anybody.
            try await phone.read(sent[0])
            try await phone.read(sent[1])
            try await ann.read(sent[2])
            try await messaging.person("cleo").read(sent[2])
            try await phone.request(MarkMessagesRead(upTo: ObjectID()))
            #expect(try await marks() == [sent[1].number, sent[1].number])
            // A message that is read was delivered.
            try await phone.read(sent[2])
            #expect(try await marks() == [sent[2].number, sent[2].number])
            #expect(try await events.next(2) == ["ann \(sent[2].id)", "bob \(sent[2].id)"])
            #expect(try await phone.news().conversations.map(\.unread) == [0])
        }
    }

    @Test(
        "If one of the two has switched off read marks, neither learns what or when the other one reads",
        arguments: StoreKind.ofRules)
    func hidden(kind: StoreKind) async throws {
        try await RunningMessaging.with(kind, clock: TestClock()) { messaging in
            for (round, hides) in (["ann", "bob"] as [AccountName]).enumerated() {
                let (ann, bob) = (messaging.person("ann"), messaging.person("bob"))
                let hiding = messaging.person(hides)
                let choices = try await hiding.request(ChooseMessaging(MessagingChoices(readMarks: false)))
                #expect(!choices.readMarks)
                #expect(try await hiding.request(ReadMessaging()).choices.readMarks == false)
                let sent = try await ann.send("\(round)", to: "bob")
                try await bob.receive()
                let known = try await ann.receive()
                #expect(known.conversations.map(\.delivered) == [sent.number])
                try await bob.read(sent)
                let after = try await messaging.withStore { store in
                    try await store.get("ann", from: MessagingStore.persons)?.position
                }
                #expect(after == known.after)
                let conversation = try await ann.conversation(with: "bob").conversation
                #expect(conversation.read == nil && conversation.delivered == sent.number)
                // One's own reading is known to one's own devices.
                #expect(try await bob.conversation(with: "ann").conversation.seen == sent.number)
                try await hiding.request(ChooseMessaging(MessagingChoices(readMarks: true)))
                #expect(try await ann.conversation(with: "bob").conversation.read == sent.number)
            }
        }
    }

    @Test("More messages than one transaction confirms are confirmed by one request", arguments: StoreKind.ofRules)
    func many(kind: StoreKind) async throws {
        try await RunningMessaging.with(kind, clock: TestClock()) { messaging in
            let (ann, bob) = (messaging.person("ann"), messaging.person("bob"))
            let first = try await ann.send("first", to: "bob")
            // One transaction confirms 500.
            let last = try await messaging.withStore { store -> DirectMessageDocument in
                let position = try await store.get("bob", from: MessagingStore.persons)?.position ?? 0
                let messages = DirectMessageDocument.many(520, from: "ann", to: "bob", behind: first, position: position)
                try await store.transaction { transaction in
                    try transaction.insert(all: messages, into: MessagingStore.messages)
                    try transaction.update("bob", in: MessagingStore.persons) { $0.position = position + 520 }
                }
                return try #require(messages.last)
            }
            try await bob.confirm(last.toPosition)
            #expect(try await ann.conversation(with: "bob", limit: 1).conversation.delivered == last.number)
            let device = try await messaging.withStore { try await $0.get(bob.device, from: MessagingStore.devices)?.document }
            #expect(device?.received == last.toPosition)
        }
    }

    @Test(
        "The service looks for what can be removed after each reading, and after each device that was missing",
        arguments: StoreKind.ofRules)
    func due(kind: StoreKind) async throws {
        try await RunningMessaging.with(kind, clock: TestClock()) { messaging in
            let (ann, phone) = (messaging.person("ann"), messaging.person("bob"))
            let laptop = phone.elsewhere
            messaging.people.setDevices([phone.device, laptop.device], of: "bob")
            let sent = try await ann.send("hi", to: "bob")
            func isStored() async throws -> Bool {
                try await messaging.withStore { try await $0.get(sent.id, from: MessagingStore.messages) != nil }
            }
            let missing = try await laptop.news()
            try await phone.receive()
            try await phone.read(sent)
            #expect(try await isStored())
            try await laptop.confirm(missing.after)
            try await eventually("the message is removed") { try await !isStored() }
            let conversation = try await phone.conversation(with: "ann")
            #expect(conversation.messages.isEmpty && conversation.conversation.removed == sent.number)
            #expect(try await ann.conversation(with: "bob").conversation.read == sent.number)
        }
    }
}
