import Base
import Schemas
import Store
import TestSupport
import Testing

@testable import Messaging

/// A device fetches what is new for its person, page by page, and misses nothing.
@Suite("Fetching messages", .timeLimit(.minutes(10)))
struct NewsTests {
    @Test("Pages have everything once and in order, with the marks of the conversations", arguments: StoreKind.ofRules)
    func pages(kind: StoreKind) async throws {
        try await RunningMessaging.with(kind, clock: TestClock()) { messaging in
            let ann = messaging.person("ann")
            var sent: [DirectMessage] = []
            for number in 0..<5 {
                for other in ["bob", "cleo", "zoe"] as [AccountName] {
                    sent.append(try await messaging.person(other).send("\(number)", to: "ann"))
                    if number % 2 == 0 { sent.append(try await ann.send("\(number)", to: other)) }
                }
            }
            var (messages, conversations, position): ([DirectMessage], [Conversation], Int64) = ([], [], 0)
            var pages = 0
            var isLast = false
            while !isLast {
                let page = try await ann.news(after: position, limit: 4)
                #expect(page.messages.count <= 4 && page.after > position)
                messages += page.messages
                conversations += page.conversations
                (position, isLast) = (page.after, page.more == nil)
                pages += 1
            }
            #expect(messages == sent && pages == 6)
            // Each comes with its last message.
            #expect(conversations.map(\.account) == ["bob", "cleo", "zoe"] && conversations.map(\.unread) == [5, 5, 5])
            #expect(try await ann.news(limit: 200).messages == sent)

            let later = try await messaging.person("zoe").send("later", to: "ann")
            let page = try await ann.news(after: position)
            #expect(page.messages == [later] && page.conversations.map(\.unread) == [6])
        }
    }

    @Test("A conversation is read from its end, in pages", arguments: StoreKind.ofRules)
    func conversation(kind: StoreKind) async throws {
        try await RunningMessaging.with(kind, clock: TestClock()) { messaging in
            let (ann, bob) = (messaging.person("ann"), messaging.person("bob"))
            var sent: [DirectMessage] = []
            for number in 0..<7 {
                let (sender, recipient) = number % 3 == 0 ? (ann, bob) : (bob, ann)
                sent.append(try await sender.send("\(number)", to: recipient.name))
            }
            try await messaging.person("cleo").send("another conversation", to: "ann")
            var (found, before): ([DirectMessage], Int64?) = ([], nil)
            var pages = 0
            repeat {
                let page = try await bob.conversation(with: "Ann", limit: 3, before: before)
                #expect(page.conversation.unread == 3 && page.conversation.last == sent.last?.number)
                found += page.messages
                before = page.next
                pages += 1
            } while before != nil
            #expect(found == Array(sent.reversed()) && pages == 3)

            let empty = try await bob.conversation(with: "cleo")
            #expect(empty.messages.isEmpty && empty.next == nil && empty.conversation.account == "cleo")
            #expect(empty.conversation.last == 0 && empty.conversation.unread == 0)
        }
    }

    @Test("A device takes part from its first fetch on, and only its own person's", arguments: StoreKind.ofRules)
    func devices(kind: StoreKind) async throws {
        let clock = TestClock()
        try await RunningMessaging.with(kind, clock: clock) { messaging in
            let ann = messaging.person("ann")
            func stored() async throws -> MessagingDeviceDocument? {
                try await messaging.withStore { try await $0.get(ann.device, from: MessagingStore.devices)?.document }
            }
            try await ann.send("hi", to: "bob")
            #expect(try await stored() == nil)
            _ = try await ann.news()
            let first = try #require(try await stored())
            #expect(first.account == "ann" && first.received == 0 && first.seen == clock.now)
            clock.pass(3_599_999)
            _ = try await ann.news()
            #expect(try await stored() == first)
            clock.pass(1)
            _ = try await ann.news()
            #expect(try await stored()?.seen == clock.now)

            let thief = TestPerson(client: messaging.client, name: "bob", device: ann.device)
            #expect(await thief.failure(of: ReadMessageNews(on: ann.device, after: 0, limit: 1))?.status == .notFound)
            #expect(await thief.failure(of: ConfirmMessages(on: ann.device, after: 1))?.status == .notFound)
        }
    }

    @Test("A position of the future finds nothing, and confirms nothing that is not there", arguments: StoreKind.ofRules)
    func future(kind: StoreKind) async throws {
        try await RunningMessaging.with(kind, clock: TestClock()) { messaging in
            let (ann, bob) = (messaging.person("ann"), messaging.person("bob"))
            let sent = try await ann.send("hi", to: "bob")
            let none = try await bob.news(after: .max)
            #expect(none.messages.isEmpty && none.conversations.isEmpty && none.after == .max && none.more == nil)
            try await bob.confirm(.max)
            let next = try await ann.send("again", to: "bob")
            // The second one was not confirmed by that.
            #expect(try await ann.conversation(with: "bob").conversation.delivered == sent.number)
            try await bob.receive()
            #expect(try await ann.conversation(with: "bob").conversation.delivered == next.number)
        }
    }
}
