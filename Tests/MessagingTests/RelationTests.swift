import Schemas
import Store
import TestSupport
import Testing

@testable import Messaging

/// The people service decides at each read who sees what of whom.
@Suite("Messages of those who have parted", .timeLimit(.minutes(10)))
struct RelationTests {
    private static func stored(_ messaging: RunningMessaging) async throws -> [DirectMessageDocument] {
        try await messaging.withStore { store in
            try await store.page(of: MessagingStore.messages, limit: 100).documents.map(\.document)
        }
    }

    @Test(
        "After blocking or unfriending nothing of the two is shown any more, and their messages are removed",
        arguments: StoreKind.ofRules)
    func parted(kind: StoreKind) async throws {
        try await RunningMessaging.with(kind, clock: TestClock()) { messaging in
            let (ann, bob) = (messaging.person("ann"), messaging.person("bob"))
            for (round, part) in [messaging.people.block, messaging.people.part].enumerated() {
                let other = try await messaging.person("cleo").send("\(round)", to: "ann")
                try await bob.send("b\(round)", to: "ann")
                try await ann.send("a\(round)", to: "bob")
                part("ann", "bob")
                let news = try await ann.news()
                #expect(news.messages.last == other && !news.messages.contains { $0.from == "bob" || $0.to == "bob" })
                #expect(news.conversations.map(\.account) == ["cleo"])
                #expect(try await Self.stored(messaging).allSatisfy { $0.from == "cleo" })
                for (person, peer) in [(ann, "bob"), (bob, "ann")] as [(TestPerson, AccountName)] {
                    #expect(await person.failure(of: ListConversation(with: peer, limit: 9))?.status == .notFound)
                }
                // What was passed by the fetch does not come back.
                messaging.people.befriend("ann", "bob")
                #expect(try await ann.conversation(with: "bob").messages.isEmpty)
                #expect(try await Set(ann.news().conversations.map(\.account)) == ["bob", "cleo"])
            }
        }
    }

    @Test("A conversation that is opened after the two have parted is removed as well", arguments: StoreKind.ofRules)
    func opened(kind: StoreKind) async throws {
        try await RunningMessaging.with(kind, clock: TestClock()) { messaging in
            let (ann, bob) = (messaging.person("ann"), messaging.person("bob"))
            try await ann.send("1", to: "bob")
            try await bob.send("2", to: "ann")
            messaging.people.part("ann", "bob")
            #expect(await bob.failure(of: ListConversation(with: "ann", limit: 9))?.status == .notFound)
            #expect(try await Self.stored(messaging).isEmpty)
        }
    }

    @Test("Classmates keep what they wrote as classmates, until one blocks the other", arguments: StoreKind.ofRules)
    func classmates(kind: StoreKind) async throws {
        let people = PeopleDouble()
        people.part("ann", "bob")
        try await RunningMessaging.with(kind, clock: TestClock(), people: people) { messaging in
            let (ann, bob) = (messaging.person("ann"), messaging.person("bob"))
            let sent = try await ann.send("hi", to: "bob", classmate: true)
            #expect(try await bob.news().messages == [sent])
            #expect(try await bob.conversation(with: "ann").messages == [sent])
            try await bob.read(sent)
            #expect(try await ann.news().conversations.map(\.read) == [sent.number])
            // As friends they write as friends. When they part, nothing stays.
            people.befriend("ann", "bob")
            let second = try await bob.send("hello", to: "ann")
            #expect(try await ann.news().messages.last == second)
            people.part("ann", "bob")
            #expect(try await ann.news().messages.isEmpty)
            let third = try await ann.send("again", to: "bob", classmate: true)
            #expect(try await bob.news().messages == [third])
            people.block("ann", "bob")
            #expect(try await bob.news().messages.isEmpty)
            #expect(try await Self.stored(messaging).isEmpty)
        }
    }

    @Test("An end of a friendship that is known late removes nothing that was written since the two are friends again")
    func late() async throws {
        try await RunningMessaging.with(clock: TestClock()) { messaging in
            let (ann, bob, people) = (messaging.person("ann"), messaging.person("bob"), messaging.people)
            let reads: [@Sendable () async -> CommandFailure?] = [
                { await bob.failure(of: ReadMessageNews(on: bob.device, after: 0, limit: 9)) },
                { await bob.failure(of: ListConversation(with: "ann", limit: 9)) },
            ]
            for (read, expected) in zip(reads, [nil, ReplyStatus.notFound]) {
                try await ann.send("before", to: "bob")
                people.part("ann", "bob")
                people.delayNextCheck {
                    people.befriend("ann", "bob")
                    try await ann.send("since", to: "bob")
                }
                #expect(await read()?.status == expected)
                #expect(try await Self.stored(messaging).map(\.text) == ["since"])
            }
        }
    }

    @Test("What a friend has written before the account was disabled can be read", arguments: StoreKind.ofRules)
    func away(kind: StoreKind) async throws {
        try await RunningMessaging.with(kind, clock: TestClock()) { messaging in
            let (ann, bob) = (messaging.person("ann"), messaging.person("bob"))
            let sent = try await bob.send("hi", to: "ann")
            messaging.people.disable("bob")
            #expect(try await ann.news().messages == [sent])
            #expect(try await ann.conversation(with: "bob").messages == [sent])
            let answer = SendDirectMessage(DirectMessageDraft(to: "bob", text: "hello"))
            #expect(await ann.failure(of: answer) == CommandFailure.noRecipient("bob"))
        }
    }

    @Test("Without the people service nothing is shown, and nothing is lost or removed", arguments: StoreKind.ofRules)
    func peopleAway(kind: StoreKind) async throws {
        try await RunningMessaging.with(kind, clock: TestClock()) { messaging in
            let (ann, bob) = (messaging.person("ann"), messaging.person("bob"))
            let sent = try await ann.send("hi", to: "bob")
            messaging.people.failure = CommandFailure(.unavailable, "the database is away")
            #expect(await bob.failure(of: ReadMessageNews(on: bob.device, after: 0, limit: 9))?.status == .unavailable)
            #expect(await bob.failure(of: ListConversation(with: "ann", limit: 9))?.status == .unavailable)
            messaging.people.failure = nil
            try await eventually("the people service is asked again") {
                await bob.failure(of: ListConversation(with: "ann", limit: 9)) == nil
            }
            #expect(try await bob.news().messages == [sent])
        }
    }

    @Test("One question is asked for all persons of a page")
    func question() async throws {
        try await RunningMessaging.with(clock: TestClock()) { messaging in
            let ann = messaging.person("ann")
            for other in ["bob", "cleo", "dan"] as [AccountName] {
                for text in ["1", "2"] { try await messaging.person(other).send(text, to: "ann") }
            }
            let before = messaging.people.checks.count
            #expect(try await ann.news().messages.count == 6)
            let asked = messaging.people.checks[before...]
            #expect(asked.count == 1 && Set(asked.first ?? []) == ["bob", "cleo", "dan"])
        }
    }
}
