import Base
import FoundationEssentials
import Schemas
import Store
import TestSupport
import Testing

@testable import Archive

/// Pushes to persons, in both databases.
@Suite("Pushes to persons in the archive", .timeLimit(.minutes(10)))
struct PersonPushStoreTests {
    private static let lease = Lease(owner: "me", until: 10_000)
    private static let expires: UnixMilliseconds = 9_000_000

    private static func push(_ key: String = "k", to accounts: [String] = ["ann", "ben"]) -> Push {
        Push(
            sender: "people", idempotencyKey: key, transport: .webpush, fairnessKey: "friends",
            message: ["person": ["kind": "friend_request"]], urgency: .high, logged: 1_000, expires: expires,
            relay: PushRecord(logged: accounts.map { .account($0) }, by: .webpush, due: 1_000, expires: expires))
    }

    private func claim(
        _ queue: OutboxQueue, in store: any MessageStore, at now: UnixMilliseconds = 2_000, by lease: Lease = lease
    ) async throws -> [OutboxItem] {
        try await store.claim(Claim(.high, of: queue, limit: 9, maxPerKey: 9), lease: lease, now: now)
    }

    @Test("Accounts and devices are read back as they were stored", arguments: StoreKind.allCases)
    func roundTrip(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            var push = Self.push()
            #expect(push.relay.nextAttempt == 1_000 && push.relay.webpushAttempt == 1_000)
            _ = try await store.insert(push)
            #expect(try await store.push(push.id) == push)
            let devices = [PushRecipient(device: ObjectID(), by: .fcm), PushRecipient(device: ObjectID(), by: .webpush)]
            push.relay.recipients = devices.map { RecipientRecord(recipient: $0) }
            push.relay.recipients[1].error = DeliveryError(.deviceGone)
            let record = push.relay
            try await store.update(push: push.id) { stored, _ in stored = record }
            #expect(try await store.push(push.id) == push)
            #expect(try await store.push(of: "people", idempotencyKey: "k") == push)
        }
    }

    @Test(
        "While its devices are not known it is in the queues of both transports, and what one has leased the other does not get",
        arguments: StoreKind.allCases)
    func queues(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let push = Self.push()
            _ = try await store.insert(push)
            for (queue, other) in [(OutboxQueue.fcm, OutboxQueue.blocks), (.blocks, .fcm)] {
                let claimed = try await claim(queue, in: store)
                #expect(claimed.map(\.key) == [.push(push.id)] && claimed.first?.record.lease == Self.lease)
                #expect(try await claim(other, in: store).isEmpty)
                try await store.releaseLeases(of: "me", now: 1_500)
            }
            // Its devices are known in a turn of FCM's queue: it stays due in the other one.
            _ = try await claim(.fcm, in: store)
            let resolved = try await store.update(push: push.id) { record, _ in
                record.recipients = [RecipientRecord(recipient: PushRecipient(device: ObjectID(), by: .webpush))]
            }
            var record = try #require(resolved).relay
            (record.lease, record.nextAttempt) = (nil, Self.expires)
            #expect(try await store.settle(.push(push.id), leased: Self.lease, record))
            #expect(try await claim(.fcm, in: store).isEmpty)
            #expect(try await claim(.blocks, in: store).map(\.key) == [.push(push.id)])
        }
    }

    @Test("It is found among what waits, once, and removed as soon as blocks after its end", arguments: StoreKind.allCases)
    func removal(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let (old, new) = (Self.push("old"), Self.push("new"))
            for push in [old, new] { _ = try await store.insert(push) }
            let waiting = try await store.waiting(after: -1) { $0.push?.recipients.contains(.account("ben")) ?? false }
            #expect(waiting.count == 2 && Set(waiting) == [.push(old.id), .push(new.id)])
            for (push, ended) in [(old, 2_000), (new, 5_000)] as [(Push, UnixMilliseconds)] {
                try await store.update(push: push.id) { record, _ in
                    (record.state, record.nextAttempt, record.webpushAttempt, record.ended) = (.relayed, nil, nil, ended)
                }
            }
            #expect(try await store.removeBlocks(endedBefore: 5_000, limit: 9) == 1)
            #expect(try await store.pushes(after: nil, limit: 9).map(\.id) == [new.id])
        }
    }

    @Test("What has taken the place of a name leaves no trace of it in the files")
    func traces() async throws {
        try await withMessagePlace(.sqlite) { place in
            let store = try await place.open()
            let push = Self.push(to: ["traced.student"])
            _ = try await store.insert(push)
            func hasTrace() throws -> Bool {
                try ["", "-wal"].contains { suffix in
                    let file = try Data(contentsOf: URL(filePath: place.folder + "/message-log.sqlite" + suffix))
                    return String(decoding: file, as: UTF8.self).contains("traced.student")
                }
            }
            #expect(try hasTrace())
            try await store.update(push: push.id) { record, _ in
                record.recipients = [RecipientRecord(recipient: PushRecipient(device: ObjectID(), by: .fcm))]
            }
            try await store.removeTraces()
            #expect(try !hasTrace())
            try await store.close()
        }
    }
}
