import Base
import Schemas
import Store
import TestSupport
import Testing

@testable import Archive

/// The queues of FCM and of Web Push, in both databases.
@Suite("Queues of the outbox", .timeLimit(.minutes(10)))
struct QueueTests {
    private static let lease = Lease(owner: "me", until: 10_000)
    private static let expires: UnixMilliseconds = 9_000_000

    private static func message(_ title: String = "T", _ change: (inout RelayRecord) -> Void = { _ in }) -> Message {
        var message = MessageStoreTests.message(title, expires: expires)
        message.relay = RelayRecord(logged: .alert, by: [.fcm, .webpush], due: 1_000, expires: expires)
        change(&message.relay)
        return message
    }

    /// FCM has accepted its components; the one for Web Push is due.
    private static func waitingForWebPush(_ title: String = "T") -> Message {
        message(title) { relay in
            for index in 0..<2 { (relay.components[index].state, relay.components[index].acceptedAt) = (.accepted, 1_500) }
            (relay.state, relay.attempts, relay.accepted, relay.nextAttempt) = (.retrying, 1, 1_500, expires)
        }
    }

    private static func block(_ key: String) -> Push {
        var push = PushStoreTests.push(key, fairnessKey: key, recipients: [.token("a"), .token("b")])
        push.transport = .webpush
        push.relay = PushRecord(logged: push.recipients, by: .webpush, due: 1_000, expires: push.expires)
        return push
    }

    private func claim(
        _ queue: OutboxQueue, in store: any MessageStore, at now: UnixMilliseconds = 2_000, by lease: Lease = lease
    ) async throws -> [OutboxItem] {
        try await store.claim(Claim(.high, of: queue, limit: 9, maxPerKey: 9), lease: lease, now: now)
    }

    @Test("Records with both times are read back as they were written", arguments: StoreKind.allCases)
    func roundTrip(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let (message, push) = (Self.waitingForWebPush(), Self.block("k"))
            _ = try await store.insert(message)
            _ = try await store.insert(push)
            #expect(try await store.message(message.msiKey) == message)
            #expect(try await store.push(push.id) == push)
            try await store.update(message.msiKey) { record, _ in record.webpushAttempt = nil }
            #expect(try await store.message(message.msiKey)?.relay.webpushAttempt == nil)
        }
    }

    @Test(
        "Each queue has what is due for its transport, and what one has leased the other does not get",
        arguments: StoreKind.allCases)
    func queues(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let (both, waiting, block) = (Self.message("both"), Self.waitingForWebPush("waiting"), Self.block("block"))
            let push = PushStoreTests.push("push")
            for message in [both, waiting] { _ = try await store.insert(message) }
            for push in [block, push] { _ = try await store.insert(push) }
            #expect(try await claim(.blocks, in: store).map(\.key) == [.push(block.id)])
            let fanOuts = try await claim(.fanOuts, in: store)
            #expect(Set(fanOuts.map(\.key)) == [.message(both.msiKey), .message(waiting.msiKey)])
            #expect(fanOuts.allSatisfy { $0.record.lease == Self.lease && $0.record.webpushAttempt == 10_000 })
            // When it is due for FCM stays.
            let leased = try #require(fanOuts.first { $0.key == .message(both.msiKey) })
            #expect(leased.record.nextAttempt == 1_000)
            #expect(try await store.message(both.msiKey).map(OutboxItem.message) == leased)
            #expect(try await claim(.fcm, in: store).map(\.key) == [.push(push.id)])
            // The lease has ended.
            let later = Lease(owner: "other", until: 30_000)
            #expect(try await claim(.fcm, in: store, at: 10_000, by: later).map(\.key).contains(.message(both.msiKey)))
            #expect(try await claim(.fanOuts, in: store, at: 10_000, by: later).map(\.key) == [.message(waiting.msiKey)])
        }
    }

    @Test("What waits only for Web Push is in the queue of FCM when it has expired", arguments: StoreKind.allCases)
    func expired(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let (waiting, block) = (Self.waitingForWebPush(), Self.block("block"))
            _ = try await store.insert(waiting)
            _ = try await store.insert(block)
            #expect(try await claim(.fcm, in: store, at: Self.expires - 1).isEmpty)
            #expect(try await store.expired(by: Self.expires, limit: 9).count == 2)
            #expect(
                try await claim(.fcm, in: store, at: Self.expires, by: Lease(owner: "me", until: Self.expires + 9)).count == 2)
        }
    }

    @Test("The leases of both queues are released, and an outcome is stored under either", arguments: StoreKind.allCases)
    func leases(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let (waiting, block) = (Self.waitingForWebPush(), Self.block("block"))
            _ = try await store.insert(waiting)
            _ = try await store.insert(block)
            for queue in [OutboxQueue.fanOuts, .blocks] { #expect(try await claim(queue, in: store).count == 1) }
            try await store.releaseLeases(of: "me", now: 3_000)
            for queue in [OutboxQueue.fanOuts, .blocks] {
                #expect(try await claim(queue, in: store, at: 2_999).isEmpty)
                #expect(try await claim(queue, in: store, at: 3_000).count == 1)
            }
            var record = try #require(try await store.message(waiting.msiKey)).relay
            (record.lease, record.webpushAttempt) = (nil, 60_000)
            #expect(try await store.settle(.message(waiting.msiKey), leased: Self.lease, record))
            #expect(try await store.message(waiting.msiKey)?.relay == record)
            #expect(try await claim(.fanOuts, in: store, at: 59_999).isEmpty)
        }
    }

    @Test("A released lease leaves what it was not for due when it was", arguments: StoreKind.allCases)
    func otherQueue(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            // FCM is tried again later, or Web Push is, or FCM has nothing left.
            let pushed = Self.message("pushed") { ($0.state, $0.attempts, $0.nextAttempt) = (.retrying, 1, 40_000) }
            let sent = Self.message("sent") { ($0.state, $0.attempts, $0.webpushAttempt) = (.retrying, 1, 40_000) }
            let (waiting, block) = (Self.waitingForWebPush("waiting"), Self.block("block"))
            for message in [pushed, sent, waiting] { _ = try await store.insert(message) }
            _ = try await store.insert(block)
            #expect(try await claim(.fanOuts, in: store).count == 2)
            #expect(try await claim(.fcm, in: store).map(\.key) == [.message(sent.msiKey)])
            #expect(try await claim(.blocks, in: store).count == 1)
            try await store.releaseLeases(of: "me", now: 3_000)
            func times(of message: Message) async throws -> [UnixMilliseconds?] {
                let relay = try #require(try await store.message(message.msiKey)).relay
                #expect(relay.lease == nil)
                return [relay.nextAttempt, relay.webpushAttempt]
            }
            #expect(try await times(of: pushed) == [40_000, 3_000])
            #expect(try await times(of: sent) == [3_000, 40_000])
            #expect(try await times(of: waiting) == [Self.expires, 3_000])
            let record = try #require(try await store.push(block.id)).relay
            #expect(record.lease == nil && record.nextAttempt == block.expires && record.webpushAttempt == 3_000)
        }
    }

    @Test("A search for what waits finds each item once, by either time", arguments: StoreKind.allCases)
    func waiting(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let both = Self.message { ($0.nextAttempt, $0.webpushAttempt) = (5_000, 6_000) }
            let soon = Self.message { ($0.nextAttempt, $0.webpushAttempt) = (Self.expires, 5_500) }
            for message in [both, soon] { _ = try await store.insert(message) }
            let found = try await store.waiting(after: 4_000, until: 7_000) { _ in true }
            #expect(found.count == 2 && Set(found) == [.message(both.msiKey), .message(soon.msiKey)])
            #expect(try await store.waiting(after: 4_000) { _ in true }.count == 2)
            #expect(try await store.waiting(after: 5_200, until: 5_800) { _ in true } == [.message(soon.msiKey)])
        }
    }

    @Test("Only blocks that ended before a time are removed, and no other pushes", arguments: StoreKind.allCases)
    func removal(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let (old, new, waiting) = (Self.block("old"), Self.block("new"), Self.block("waiting"))
            let push = PushStoreTests.push("push")
            for push in [old, new, waiting, push] { _ = try await store.insert(push) }
            for (push, ended) in [(old, 2_000), (new, 5_000), (push, 2_000)] as [(Push, UnixMilliseconds)] {
                try await store.update(push: push.id) { record, _ in
                    (record.state, record.nextAttempt, record.webpushAttempt, record.ended) = (.relayed, nil, nil, ended)
                }
            }
            #expect(try await store.removeBlocks(endedBefore: 5_000, limit: 9) == 1)
            #expect(try await store.removeBlocks(endedBefore: 5_000, limit: 9) == 0)
            #expect(try await Set(store.pushes(after: nil, limit: 9).map(\.id)) == [new.id, waiting.id, push.id])
        }
    }

    @Test(
        "An Alert that FCM has not accepted is found for running apps, even if it is pushed to browsers",
        arguments: StoreKind.allCases)
    func dueAlerts(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let pushed = Self.message("pushed") { relay in
                relay.components[2].state = .accepted
                (relay.state, relay.attempts, relay.webpushAttempt) = (.retrying, 1, nil)
            }
            let shown = Self.message("shown") { $0.components[0].state = .accepted }
            for message in [pushed, shown, Self.waitingForWebPush()] { _ = try await store.insert(message) }
            let found = try await store.dueAlerts(at: 5_000, postedBy: 4_000, maxPerTopic: 9, limit: 9) { _ in true }
            #expect(found.map(\.title) == ["pushed"])
        }
    }
}
