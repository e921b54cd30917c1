import Base
import Schemas
import Store
import TestSupport
import Testing

@testable import Messaging

/// What happens in the same moment on two instances of the service: one consistent state each time, and no device misses
/// anything.
@Suite("Messages on two instances", .timeLimit(.minutes(240)))
struct MessagingRaceTests {
    private static let workers = 4
    /// Seeds that have a database of their own: the tests' server of MongoDB reads a whole collection for each query of a
    /// transaction.
    private static let batch = 5

    /// How many random orders there are. The tests' server of MongoDB is slow with them; in level one it has four.
    private static func seeds(of kind: StoreKind) -> Int {
        switch kind {
        case .sqlite: Level.isAll ? 3_000 : 80
        case .mongodb: Level.isAll ? 200 : 4
        }
    }

    /// How many messages each person sends to each other one, on each instance.
    private static func messages(on kind: StoreKind) -> Int {
        switch kind {
        case .sqlite: Level.isAll ? 100 : 6
        case .mongodb: Level.isAll ? 10 : 1
        }
    }

    @Test(
        "Random orders of simultaneous sends, confirmations, readings and removals leave one consistent state",
        arguments: StoreKind.allCases)
    func anyOrder(kind: StoreKind) async throws {
        let seeds = Self.seeds(of: kind)
        _ = try await concurrently(Self.workers) { worker in
            for batch in stride(from: worker * Self.batch, to: seeds, by: Self.workers * Self.batch) {
                try await MessagingPair.with(kind) { pair in
                    for seed in batch..<min(batch + Self.batch, seeds) { try await Self.race(seed, on: pair) }
                }
            }
        }
    }

    private static func race(_ seed: Int, on pair: MessagingPair) async throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let persons = ["ann", "bob", "cem"].map { AccountName(stringLiteral: "\($0)-\(seed)") }
        let devices = persons.map { _ in [ObjectID(), ObjectID()] }
        let acts = (0..<6).map { _ in
            (0..<4).map { _ in MessagingAct.random(among: persons.count, using: &random) }
        }
        let accepted = try await concurrently(acts.count) { worker -> [ObjectID] in
            var accepted: [ObjectID] = []
            for act in acts[worker] {
                if let id = try await act.perform(persons, devices, on: pair, worker % 2) { accepted.append(id) }
            }
            return accepted
        }
        let problems = try await Self.problems(among: persons, Set(accepted.joined()), on: pair)
        #expect(problems == [], "seed \(seed)")
    }

    /// - Parameter accepted: The messages whose senders were told that they are accepted.
    private static func problems(
        among persons: [AccountName], _ accepted: Set<ObjectID>, on pair: MessagingPair
    ) async throws -> [String] {
        try await whenAvailable {
            try await pair.instances[0].store.snapshot { try $0.problems(among: persons, accepted) }
        }
    }

    @Test("Who fetches while others send gets everything once, in the order of each conversation", arguments: StoreKind.allCases)
    func fetching(kind: StoreKind) async throws {
        let persons: [AccountName] = ["ann", "bob", "cem"]
        let each = Self.messages(on: kind)
        try await MessagingPair.with(kind) { pair in
            // Each of the three sends to both others, on both instances.
            let expected = 4 * 2 * each
            let accepted = try await concurrently(9) { worker -> [ObjectID] in
                let person = worker % 3
                var sent: [ObjectID] = []
                guard worker < 6 else {
                    try await Self.fetchAll(expected, for: persons[person], from: pair)
                    return sent
                }
                for number in 0..<each {
                    for other in 0..<3 where other != person {
                        let text = "\(worker) \(other) \(number)"
                        sent.append(
                            try await pair.send(text, from: persons[person], to: persons[other], on: worker / 3).id)
                    }
                }
                return sent
            }
            let problems = try await Self.problems(among: persons, Set(accepted.joined()), on: pair)
            #expect(problems == [])
        }
    }

    /// Fetches page by page until it has so many messages.
    private static func fetchAll(_ count: Int, for account: AccountName, from pair: MessagingPair) async throws {
        var (found, position): ([DirectMessageDocument], Int64) = ([], 0)
        func fetch() async throws {
            let command = ReadMessageNews(on: ObjectID(), after: position, limit: 7)
            let page = try await whenAvailable {
                try await pair.instances[1].store.snapshot { try $0.news(command, for: account) }
            }
            found += page.messages
            position = page.after
        }
        try await eventually("\(account) has \(count) messages", every: .milliseconds(100)) {
            try await fetch()
            return found.count >= count
        }
        // None comes once more.
        try await fetch()
        #expect(found.count == count && Set(found.map(\.id)).count == count, "\(account)")
        for (conversation, messages) in Dictionary(grouping: found, by: \.conversation) {
            let numbers = messages.map(\.number)
            #expect(numbers == numbers.sorted(), "\(account) in \(conversation)")
        }
    }
}

extension Transaction {
    /// What does not fit together in the messages between some persons.
    ///
    /// - Parameter accepted: All that they have sent.
    fileprivate func problems(among persons: [AccountName], _ accepted: Set<ObjectID>) throws -> [String] {
        var problems: [String] = []
        let known = try persons.flatMap { try digests(Query(where: MessagingStore.digestFrom == $0.key)) }
        if Set(known.map(\.id)) != accepted { problems.append("\(accepted.count) are accepted, and \(known.count) are known") }
        for account in persons {
            let person = try get(account.key, from: MessagingStore.persons)?.document
            let received = try persons.flatMap { try self.received(by: account, from: $0) }
            let sent = try persons.flatMap { try self.received(by: $0, from: account) }
            if person?.waiting ?? 0 != received.count { problems.append("\(account) counts \(person?.waiting ?? 0) messages") }
            let positions = received.map(\.toPosition) + sent.map(\.fromPosition)
            if Set(positions).count != positions.count { problems.append("\(account) has a position twice") }
            if let last = positions.max(), last > person?.position ?? 0 { problems.append("\(account) is behind \(last)") }
            for other in persons where account.key < other.key {
                guard let conversation = try conversation(of: account.key, and: other.key) else { continue }
                problems += try self.problems(of: conversation)
            }
        }
        return problems
    }

    /// The digests of messages, which stay when these are removed.
    private func digests(_ query: Query<MessageDigestDocument>) throws -> [MessageDigestDocument] {
        try page(of: MessagingStore.digests, query, limit: 1_000).documents.map(\.document)
    }

    private func problems(of conversation: ConversationDocument) throws -> [String] {
        var problems: [String] = []
        var numbers: [Int64] = []
        for side in [conversation.first, conversation.second] {
            let other = conversation.other(of: side.account)
            let received = try self.received(by: side.name, from: other.name)
            let known = try digests(Query(where: MessagingStore.digestFrom == other.account)).filter { $0.to == side.account }
            let kept = known.filter { $0.number > side.removed }
            if Set(kept.map(\.id)) != Set(received.map(\.id)) {
                problems.append("\(side.account) has \(received.count) messages, and \(kept.count) were not removed")
            }
            numbers += received.map(\.number)
            if received.map(\.toPosition) != received.map(\.toPosition).sorted() {
                problems.append("the positions of \(side.account) have another order than the numbers")
            }
            if received.map(\.count) != Set(received.map(\.count)).sorted() {
                problems.append("messages to \(side.account) have the same place")
            }
            // Each text has a key.
            if Set(received.map(\.text)).count != received.count { problems.append("\(other.account) has sent a message twice") }
            if other.sent != known.count { problems.append("\(other.account) counts \(other.sent), and sent \(known.count)") }
            if side.delivered < side.read || side.read < side.removed { problems.append("the marks of \(side.account): \(side)") }
            if side.readCount > other.sent { problems.append("\(side.account) has read more than there is") }
        }
        if Set(numbers).count != numbers.count { problems.append("\(conversation.id) has a number twice") }
        if let last = numbers.max(), last > conversation.last { problems.append("\(conversation.id) is behind \(last)") }
        return problems
    }
}
