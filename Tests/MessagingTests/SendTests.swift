import Base
import Bus
import PersonPushes
import Schemas
import Store
import TestSupport
import Testing

@testable import Messaging

/// Messages are accepted, once each, and announced.
@Suite("Sending messages", .timeLimit(.minutes(10)))
struct SendTests {
    @Test("Both have the message, in a conversation that the recipient has not read", arguments: StoreKind.ofRules)
    func sent(kind: StoreKind) async throws {
        let clock = TestClock(1_800_000_000_000)
        try await RunningMessaging.with(kind, clock: clock) { messaging in
            let (ann, bob) = (messaging.person("Ann"), messaging.person("Bob"))
            let sent = try await ann.send("Are you coming at three? 🙂", to: "bob")
            #expect(sent.from == "ann" && sent.to == "bob" && sent.at == clock.now && sent.number == clock.now.rawValue)
            #expect(sent.text == "Are you coming at three? 🙂" && sent.picture == nil && sent.removed == nil)
            for person in [ann, bob] {
                let news = try await person.news()
                #expect(news.messages == [sent] && news.more == nil && news.now == clock.now && news.after > 0)
                let conversation = try #require(news.conversations.first)
                #expect(news.conversations.count == 1 && conversation.last == sent.number)
                let (other, unread): (AccountName, Int) = person.name == "ann" ? ("bob", 0) : ("ann", 1)
                #expect(conversation.account == other && conversation.unread == unread && conversation.delivered == nil)
                let page = try await person.conversation(with: conversation.account)
                #expect(page.messages == [sent] && page.conversation == conversation && page.next == nil)
            }
        }
    }

    @Test("A repeated request gets the same message, also after it was removed", arguments: StoreKind.ofRules)
    func repeated(kind: StoreKind) async throws {
        try await RunningMessaging.with(kind, settings: ["MSI_MESSAGING_PER_MINUTE": "4"]) { messaging in
            let ann = messaging.person("ann")
            let sent = try await ann.send("one", to: "bob", key: "k")
            for _ in 0..<6 { #expect(try await ann.send("one", to: "bob", key: "k") == sent) }
            let reused = [
                SendDirectMessage(DirectMessageDraft(to: "bob", text: "two"), requestKey: "k"),
                SendDirectMessage(DirectMessageDraft(to: "cleo", text: "one"), requestKey: "k"),
                SendDirectMessage(DirectMessageDraft(to: "bob", picture: ObjectID()), requestKey: "k"),
            ]
            for command in reused {
                let failure = await ann.failure(of: command)
                #expect(failure?.status == .conflict && failure?.field == "request_key")
            }
            // Another key, none, and another person's: other messages.
            let others = [
                try await ann.send("one", to: "bob", key: "l"), try await ann.send("one", to: "bob"),
                try await messaging.person("cleo").send("one", to: "bob", key: "k"),
            ]
            #expect(Set(others.map(\.id) + [sent.id]).count == 4)

            try await messaging.withStore { store in _ = try await store.delete(sent.id, from: MessagingStore.messages) }
            let removed = try await ann.send("one", to: "bob", key: "k")
            #expect(removed.id == sent.id && removed.number == sent.number && removed.at == sent.at)
            #expect(removed.removed == true && removed.text == nil)
            #expect(await ann.failure(of: reused[0])?.field == "request_key")
        }
    }

    @Test("The same request several times in the same moment makes one message", arguments: StoreKind.allCases)
    func simultaneous(kind: StoreKind) async throws {
        try await RunningMessaging.with(kind, clock: TestClock()) { messaging in
            let (ann, bob) = (messaging.person("ann"), messaging.person("bob"))
            let sent = try await concurrently(6) { _ in try await ann.send("one", to: "bob", key: "k") }
            #expect(Set(sent.map(\.id)).count == 1)
            let news = try await bob.news()
            #expect(news.messages == [sent[0]] && news.conversations.map(\.unread) == [1])
        }
    }

    @Test("Who may not write to somebody is told nothing about them", arguments: StoreKind.ofRules)
    func refused(kind: StoreKind) async throws {
        let people = PeopleDouble()
        people.part("ann", "stranger")
        people.block("ann", "blocked")
        people.disable("away")
        try await RunningMessaging.with(kind, people: people) { messaging in
            let ann = messaging.person("ann")
            for name in ["stranger", "blocked", "away", "ann"] as [AccountName] {
                let failure = await ann.failure(of: SendDirectMessage(DirectMessageDraft(to: name, text: "hi")))
                #expect(failure == CommandFailure.noRecipient(name))
            }
            let blocked = DirectMessageDraft(to: "blocked", text: "hi")
            let refusal = await ann.failure(of: SendDirectMessage(blocked, classmate: true))
            #expect(refusal == CommandFailure.noRecipient("blocked"))
            let sent = try await ann.send("hi", to: "stranger", classmate: true)
            #expect(try await messaging.person("stranger").news().messages == [sent])
            let nobody = await messaging.client.failure(of: SendDirectMessage(DirectMessageDraft(to: "bob", text: "hi")))
            #expect(nobody?.status == .unauthenticated)
        }
    }

    @Test("Without the people service nothing is sent, and nothing is said about the outcome of the question")
    func peopleAway() async throws {
        let people = PeopleDouble()
        people.failure = CommandFailure(.deadlineExceeded, "no reply in time, outcome unknown")
        try await RunningMessaging.with(people: people) { messaging in
            let ann = messaging.person("ann")
            let command = SendDirectMessage(DirectMessageDraft(to: "bob", text: "hi"), requestKey: "k")
            let failure = try #require(await ann.failure(of: command))
            #expect(failure.status == .unavailable && !failure.isOutcomeUnknown)
            people.failure = CommandFailure(.forbidden, "friend.check is for students")
            #expect(await ann.failure(of: command)?.status == .forbidden)
            people.failure = nil
            try await ann.request(command)
            #expect(try await messaging.person("bob").news().messages.count == 1)
        }
    }

    @Test("Too many messages a minute, or for one person, have to wait", arguments: StoreKind.ofRules)
    func limits(kind: StoreKind) async throws {
        let clock = TestClock()
        try await RunningMessaging.with(kind, settings: ["MSI_MESSAGING_PER_MINUTE": "3"], clock: clock) { messaging in
            let ann = messaging.person("ann")
            for _ in 0..<3 { try await ann.send("hi", to: "bob") }
            let next = SendDirectMessage(DirectMessageDraft(to: "bob", text: "hi"))
            let limited = try #require(await ann.failure(of: next))
            #expect(limited.status == .overloaded && limited.retryAfter == 60_000)
            try await messaging.person("cleo").send("hi", to: "bob")
            clock.pass(.seconds(60))
            try await ann.request(next)

            try await messaging.withStore { store in
                _ = try await store.update("bob", in: MessagingStore.persons) { $0.waiting = MessagingLimits.maxWaiting }
            }
            let full = await ann.failure(of: next)
            #expect(full?.status == .conflict && full?.field == "to")
            try await ann.send("hi", to: "cleo")
            #expect(try await messaging.person("bob").news().messages.count == 5)
        }
    }

    @Test("Nobody writes in the name of somebody who was erased, or to them", arguments: StoreKind.ofRules)
    func erased(kind: StoreKind) async throws {
        try await RunningMessaging.with(kind) { messaging in
            try await messaging.withStore { store in
                let gone = ErasedPersonDocument(
                    id: ErasedPersonDocument.identifier(of: "gone"), expires: UnixMilliseconds.now + .seconds(3_600))
                try await store.insert(gone, into: MessagingStore.erased)
            }
            let (ann, gone) = (messaging.person("ann"), messaging.person("gone"))
            let written = SendDirectMessage(DirectMessageDraft(to: "ann", text: "hi"))
            #expect(await gone.failure(of: written)?.status == .unauthenticated)
            let fetch = ReadMessageNews(on: gone.device, after: 0, limit: 1)
            #expect(await gone.failure(of: fetch)?.status == .unauthenticated)
            let toGone = SendDirectMessage(DirectMessageDraft(to: "gone", text: "hi"))
            #expect(await ann.failure(of: toGone) == CommandFailure.noRecipient("gone"))
            try await messaging.withStore { store async throws in
                #expect(try await store.page(of: MessagingStore.persons, limit: 9).documents.isEmpty)
                #expect(try await store.page(of: MessagingStore.devices, limit: 9).documents.isEmpty)
            }
        }
    }

    @Test("The recipient gets one push without a text, which names nobody; both get an event", arguments: StoreKind.ofRules)
    func announced(kind: StoreKind) async throws {
        let (clock, messageLog) = (TestClock(), OutboxDouble())
        try await RunningMessaging.with(kind, settings: MessagingEventReader.settings, clock: clock) { messaging in
            let ann = messaging.person("ann")
            var events = try await MessagingEventReader(messaging)
            let sent = try await ann.send("a secret", to: "Bob", key: "k")
            try await ann.send("a secret", to: "Bob", key: "k")
            #expect(try await events.next(2) == ["ann \(sent.id)", "bob \(sent.id)"])
            try await messaging.with(messageLog) {
                try await eventually("the push") { messageLog.taken.contains { $0.accounts == ["bob"] } }
            }
            #expect(!messaging.log.has("a secret"))
        }
        let pushes = messageLog.taken.filter { $0.accounts == ["bob"] }
        let push = try #require(pushes.first)
        let sent = try PersonPush(push.message)
        #expect(pushes.count == 1 && messageLog.senders == ["messaging"])
        #expect(push.kind == .directMessage && push.exceptDevice == nil)
        #expect(push.fairnessKey == "messaging" && push.expires == clock.now + .seconds(86_400))
        #expect(sent.link == "#people" && sent.tag == "direct_message" && sent.urgency == .high)
        #expect(Set(sent.texts.keys) == ["en", "ar"] && sent.id == push.idempotencyKey)
        let text = String(decoding: push.message.data, as: UTF8.self)
        for word in ["secret", "ann", "Bob", "bob"] { #expect(!text.contains(word), "\(text)") }
    }
}
