import Base
import Schemas
import Store
import TestSupport
import Testing

@testable import Messaging

/// The order in a conversation is total, and the same for both.
@Suite("The order of messages", .timeLimit(.minutes(10)))
struct OrderTests {
    @Test("Messages that both send in the same moment have one order for both", arguments: StoreKind.allCases)
    func simultaneous(kind: StoreKind) async throws {
        // The tests' server of MongoDB is slow with messages.
        let each = kind == .sqlite || Level.isAll ? 12 : 2
        try await RunningMessaging.with(kind, clock: TestClock()) { messaging in
            let persons = [messaging.person("ann"), messaging.person("bob")]
            let sent = try await concurrently(4) { sender in
                var sent: [DirectMessage] = []
                for number in 0..<each {
                    let (person, other) = (persons[sender % 2], persons[1 - sender % 2])
                    let text = "\(sender) \(number)"
                    sent.append(try await person.send(text, to: other.name, key: text))
                }
                return sent
            }
            let numbers = sent.flatMap { $0.map(\.number) }
            #expect(Set(numbers).count == 4 * each)
            // Who waits for the answer before the next one has them in that order.
            for part in sent { #expect(part.map(\.number) == part.map(\.number).sorted()) }
            let orders = [try await persons[0].news().messages, try await persons[1].news().messages]
            #expect(orders[0] == orders[1] && orders[0].map(\.number) == numbers.sorted())
            let page = try await persons[0].conversation(with: "bob")
            #expect(page.messages == Array(orders[0].reversed()))
        }
    }

    @Test(
        "By a clock that was set back, and after a restore, no number and no position is given again",
        arguments: StoreKind.ofRules)
    func clock(kind: StoreKind) async throws {
        let clock = TestClock(1_800_000_000_000)
        try await RunningMessaging.with(kind, clock: clock) { messaging in
            let (ann, bob) = (messaging.person("ann"), messaging.person("bob"))
            let first = try await ann.send("one", to: "bob")
            let position = try await bob.news().after
            clock.pass(.seconds(-60))
            let second = try await ann.send("two", to: "bob")
            #expect(second.number == first.number + 1 && second.at == clock.now)
            #expect(try await bob.news(after: position).messages == [second])

            // As a backup has it in which the second one is missing.
            try await messaging.withStore { store in
                try await store.transaction { transaction in
                    try transaction.update("ann bob", in: MessagingStore.conversations) { $0.last = first.number }
                    for account in ["ann", "bob"] {
                        try transaction.update(account, in: MessagingStore.persons) { $0.position = position }
                    }
                    try transaction.delete([second.id], from: MessagingStore.messages)
                }
            }
            let known = try await bob.news(after: position).after
            clock.pass(.seconds(120))
            let third = try await ann.send("three", to: "bob")
            #expect(third.number > second.number && third.number == clock.now.rawValue)
            #expect(try await bob.news(after: max(known, position + 1)).messages == [third])
        }
    }
}
