import Base
import Schemas
import TestSupport
import Testing

@testable import Messaging

/// How often a device may ask for messages without a reason.
@Suite("Polls", .timeLimit(.minutes(10)))
struct PollTests {
    @Test("A poll each 30 seconds is answered, and one in between has to wait for the rest", arguments: StoreKind.ofRules)
    func polls(kind: StoreKind) async throws {
        let clock = TestClock()
        try await RunningMessaging.with(kind, clock: clock) { messaging in
            let ann = messaging.person("ann")
            let poll = ReadMessageNews(on: ann.device, after: 0, limit: 50)
            #expect(try await ann.request(poll).messages.isEmpty)
            let early = try #require(await ann.failure(of: poll))
            #expect(early.status == .overloaded && early.retryAfter == 30_000)
            clock.pass(.seconds(29))
            #expect(await ann.failure(of: poll)?.retryAfter == 1_000)
            clock.pass(.seconds(1))
            try await ann.request(poll)
            #expect(await ann.failure(of: poll)?.status == .overloaded)
            // Each device for itself.
            _ = try await ann.elsewhere.news()
            // An empty fetch asks nobody.
            #expect(messaging.people.checks == [])
        }
    }

    @Test("A fetch that finds something is no poll", arguments: StoreKind.ofRules)
    func news(kind: StoreKind) async throws {
        try await RunningMessaging.with(kind, clock: TestClock()) { messaging in
            let (ann, bob) = (messaging.person("ann"), messaging.person("bob"))
            var position: Int64 = 0
            _ = try await bob.news()
            for number in 0..<5 {
                let sent = try await ann.send("\(number)", to: "bob")
                let news = try await bob.news(after: position)
                #expect(news.messages == [sent])
                position = news.after
                #expect(await bob.failure(of: ReadMessageNews(on: bob.device, after: position, limit: 9))?.status == .overloaded)
            }
            // A page that was loaded again.
            for _ in 0..<9 { #expect(try await bob.news().messages.count == 5) }
        }
    }

    @Test("After an event or a push a device may fetch five times, whatever it finds", arguments: StoreKind.ofRules)
    func prompts(kind: StoreKind) async throws {
        try await RunningMessaging.with(kind, clock: TestClock()) { messaging in
            let (ann, bob, cleo) = (messaging.person("ann"), messaging.person("bob"), messaging.person("cleo"))
            let sent = try await ann.send("hi", to: "bob")
            let others = try await ann.send("hi", to: "dan")
            for person in [ann, bob] {
                let known = try await person.news().after
                let poll = ReadMessageNews(on: person.device, after: known, limit: 9)
                try await person.request(poll)
                #expect(await person.failure(of: poll)?.status == .overloaded)
                let prompted = ReadMessageNews(on: person.device, after: known, limit: 9, prompt: sent.id)
                for _ in 0..<MessagingLimits.fetchesPerPrompt {
                    #expect(try await person.request(prompted).messages.isEmpty)
                }
                #expect(await person.failure(of: prompted)?.status == .overloaded)
            }
            // Another device may do the same.
            let phone = bob.elsewhere
            let known = try await phone.news().after
            for _ in 0..<2 { _ = try await phone.news(after: known, prompt: sent.id) }
            // The message of others, or none at all, is no reason.
            try await cleo.request(ReadMessageNews(on: cleo.device, after: 0, limit: 9))
            for prompt in [sent.id, others.id, ObjectID()] {
                let claimed = ReadMessageNews(on: cleo.device, after: 0, limit: 9, prompt: prompt)
                #expect(await cleo.failure(of: claimed)?.status == .overloaded)
            }
        }
    }

    @Test("The setting counts, for messages and statuses apart")
    func setting() {
        let clock = TestClock()
        let limits = PollLimits(now: { clock.now })
        let (one, other) = (ObjectID(), ObjectID())
        func wait(_ device: ObjectID, _ kind: PollLimits.Kind, every period: Seconds = 10) -> Milliseconds? {
            do throws(CommandFailure) {
                try limits.poll(device, kind, every: period)
                return nil
            } catch {
                return error.retryAfter
            }
        }
        #expect(wait(one, .messages) == nil && wait(one, .statuses) == nil && wait(other, .messages) == nil)
        #expect(wait(one, .messages) == 10_000 && wait(one, .statuses, every: 60) == 60_000)
        clock.pass(.seconds(10))
        #expect(wait(one, .messages) == nil && wait(one, .statuses, every: 60) == 50_000)
        // Set back, and many other devices in between.
        clock.pass(.seconds(-5))
        #expect(wait(one, .messages) == nil)
        for _ in 0..<5_000 { #expect(wait(ObjectID(), .messages) == nil) }
        #expect(wait(one, .messages) == 10_000)
        clock.pass(.seconds(20))
        for _ in 0..<5_000 { #expect(wait(ObjectID(), .messages) == nil) }
        #expect(wait(one, .messages) == nil)
    }
}
