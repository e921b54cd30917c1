import Schemas
import TestSupport
import Testing

@testable import Archive

/// Claims of due messages.
extension MessageStoreTests {
    @Test("Concurrent claims never get the same message; the end of a lease frees it", arguments: StoreKind.allCases)
    func claims(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            for number in 0..<50 { _ = try await store.insert(Self.message("\(number)")) }
            let claimed = try await concurrently(10) { owner in
                try await store.claim(Self.claim(8), lease: Lease(owner: "\(owner)", until: 10_000), now: 2_000)
            }.flatMap(\.self)
            #expect(claimed.count == 50)
            #expect(Set(claimed.map(\.key)).count == 50)
            #expect(claimed.allSatisfy { $0.record.lease?.until == 10_000 && $0.record.nextAttempt == 10_000 })
            for message in claimed.compactMap(\.message) { #expect(try await store.message(message.msiKey) == message) }

            let late = Lease(owner: "late", until: 20_000)
            #expect(try await store.claim(Self.claim(100), lease: late, now: 9_999).isEmpty)
            #expect(try await store.claim(Self.claim(100), lease: late, now: 10_000).count == 50)
        }
    }

    @Test("The leases of one owner are released, and no others", arguments: StoreKind.allCases)
    func releases(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let mine = Self.message("mine", lease: Lease(owner: "me", until: 10_000))
            let theirs = Self.message("theirs", lease: Lease(owner: "me too", until: 10_000))
            for message in [mine, theirs] { _ = try await store.insert(message) }
            try await store.releaseLeases(of: "me", now: 5_000)
            let lease = Lease(owner: "next", until: 30_000)
            #expect(try await store.claim(Self.claim(9), lease: lease, now: 4_999).isEmpty)
            #expect(try await store.claim(Self.claim(9), lease: lease, now: 5_000).map(\.message?.title) == ["mine"])
        }
    }

    @Test(
        "Messages that have expired, and are neither leased nor final, are found in the order of their expiry",
        arguments: StoreKind.allCases)
    func expired(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let first = Self.message("first", expires: 2_000)
            let second = Self.message("second", expires: 3_000, distribution: .information)
            let waiting = Self.message("waiting", expires: 2_500, sendAt: 50_000)
            let leased = Self.message("leased", expires: 2_000, lease: Lease(owner: "o", until: 3_001))
            let lapsed = Self.message("lapsed", expires: 2_900, lease: Lease(owner: "o", until: 3_000))
            let done = Self.message("done", expires: 2_000)
            let later = Self.message("later", expires: 3_001)
            for message in [second, first, waiting, leased, lapsed, done, later] { _ = try await store.insert(message) }
            try await finish([done], in: store)
            let found = try await store.expired(by: 3_000, limit: 9)
            #expect(found == [first, waiting, lapsed, second].map { OutboxKey.message($0.msiKey) })
            #expect(try await store.expired(by: 3_000, limit: 2) == [first, waiting].map { OutboxKey.message($0.msiKey) })
        }
    }

    @Test("Messages that wait for a later moment are found by a condition", arguments: StoreKind.allCases)
    func waiting(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let due = Self.message("due", at: 1_000)
            let scheduled = Self.message("scheduled", sendAt: 50_000)
            let leased = Self.message("leased", distribution: .information, lease: Lease(owner: "o", until: 3_000))
            let done = Self.message("done", at: 60_000)
            for message in [due, scheduled, leased, done] { _ = try await store.insert(message) }
            try await finish([done], in: store)
            let all = try await store.waiting(after: 1_000) { _ in true }
            #expect(Set(all) == Set([scheduled, leased].map { OutboxKey.message($0.msiKey) }))
            #expect(try await store.waiting(after: 1_000) { $0.record.lease != nil } == [.message(leased.msiKey)])
            #expect(try await store.waiting(after: 1_000, until: 3_000) { _ in true } == [.message(leased.msiKey)])
            #expect(try await store.waiting(after: 1_000, until: 2_999) { _ in true }.isEmpty)
            // More than a store reads at a time, all of one moment.
            let many = (0..<kind.moreThanAPage).map { _ in Self.message("later", sendAt: 70_000) }
            try await concurrently(many.count) { number in try await store.insert(many[number]) }
            let found = try await store.waiting(after: 60_000) { _ in true }
            #expect(found.count == many.count && Set(found) == Set(many.map { OutboxKey.message($0.msiKey) }))
        }
    }

    @Test(
        "Only due messages of one distribution are claimed, the longest due first, and never final ones",
        arguments: StoreKind.allCases)
    func due(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let late = Self.message("late", at: 3_000)
            let early = Self.message("early", at: 1_000)
            let scheduled = Self.message("scheduled", at: 1_000, sendAt: 50_000)
            let silent = Self.message("silent", at: 1_000, distribution: .information)
            let done = Self.message("done", at: 500)
            for message in [late, early, scheduled, silent, done] { _ = try await store.insert(message) }
            try await finish([done], in: store)
            let lease = Lease(owner: "o", until: 100_000)
            #expect(try await store.claim(Self.claim(5), lease: lease, now: 999).isEmpty)
            #expect(try await store.claim(Self.claim(1), lease: lease, now: 3_000).map(\.message?.title) == ["early"])
            #expect(try await store.claim(Self.claim(5), lease: lease, now: 3_000).map(\.message?.title) == ["late"])
            let information = Claim(.normal, limit: 5, maxPerKey: 5)
            #expect(try await store.claim(information, lease: lease, now: 3_000).map(\.message?.title) == ["silent"])
            #expect(try await store.claim(Self.claim(5), lease: lease, now: 50_000).map(\.message?.title) == ["scheduled"])
        }
    }

    @Test(
        "A flooded topic leaves every other topic its share, and no topic gets more than its room",
        arguments: StoreKind.allCases)
    func fairness(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let topics = (0..<4).map { _ in TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID()) }
            for number in 0..<60 {
                _ = try await store.insert(Self.message("flood", at: UnixMilliseconds(rawValue: Int64(number)), topic: topics[0]))
            }
            for topic in topics[1...] {
                for number in 0..<5 {
                    _ = try await store.insert(
                        Self.message("late", at: UnixMilliseconds(rawValue: Int64(500 + number)), topic: topic))
                }
            }
            var claim = Claim(.high, limit: 20, maxPerKey: 10, room: [.topic(topics[3]): 2])
            let lease = Lease(owner: "o", until: 10_000)
            let first = try await store.claim(claim, lease: lease, now: 1_000).compactMap(\.message)
            let counts = topics.map { topic in first.filter { $0.topicKey == topic }.count }
            #expect(counts == [8, 5, 5, 2])
            // Within a topic the longest due come first.
            #expect(first.filter { $0.topicKey == topics[0] }.map(\.timestamp).sorted() == [0, 1, 2, 3, 4, 5, 6, 7])

            claim.room[.topic(topics[0])] = 0
            let second = try await store.claim(claim, lease: lease, now: 1_000).compactMap(\.message)
            #expect(second.map(\.topicKey) == [topics[3], topics[3]])
        }
    }
}
