import Base
import Schemas
import TestSupport
import Testing

@testable import Archive

/// Outcomes of turns, in both databases.
@Suite("Outcomes of turns", .timeLimit(.minutes(10)))
struct SettleTests {
    private static let lease = Lease(owner: "o", until: 5_000)
    private static let error = DeliveryError(class: .retryable, code: "QUOTA", message: "wait \"ä\"", retryAfter: 5_000)

    @Test("The outcome of a message's turn is stored, and its trace and texts stay", arguments: StoreKind.allCases)
    func message(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            var message = MessageStoreTests.message(lease: Self.lease)
            message.relay.trace = [Intervention(action: .retry, at: 5, by: "ann")]
            let other = MessageStoreTests.message("other", lease: Self.lease)
            for message in [message, other] { _ = try await store.insert(message) }

            var record = message.relay
            (record.state, record.attempts, record.nextAttempt, record.lease, record.trace) = (.retrying, 1, 9_000, nil, nil)
            record.accepted = 7
            record.components[0].state = .accepted
            (record.components[0].name, record.components[0].acceptedAt) = ("projects/p/messages/0:1\"", 7)
            record.components[1].error = Self.error
            #expect(try await store.settle(.message(message.msiKey), leased: Self.lease, record))
            record.trace = message.relay.trace
            message.relay = record
            #expect(try await store.message(message.msiKey) == message)
            #expect(try await store.message(other.msiKey) == other)
        }
    }

    @Test("The outcome of a push's turn is stored, and its trace stays", arguments: StoreKind.allCases)
    func push(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            var push = PushStoreTests.push("k", recipients: [.topic("news"), .token("t")], lease: Self.lease)
            push.relay.trace = [Intervention(action: .retry, at: 5, by: "ann")]
            _ = try await store.insert(push)

            var record = push.relay
            (record.state, record.attempts, record.nextAttempt, record.lease, record.ended) = (.failed, 1, nil, nil, 8)
            (record.recipients[0].state, record.recipients[0].name, record.recipients[0].acceptedAt) = (.accepted, "n", 7)
            (record.recipients[1].state, record.recipients[1].error) = (.failed, Self.error)
            record.trace = nil
            #expect(try await store.settle(.push(push.id), leased: Self.lease, record))
            record.trace = push.relay.trace
            push.relay = record
            #expect(try await store.push(push.id) == push)
        }
    }

    @Test("Without its lease an item stays as it is", arguments: StoreKind.allCases)
    func otherLease(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let message = MessageStoreTests.message(lease: Self.lease)
            let push = PushStoreTests.push("k", lease: Self.lease)
            _ = try await store.insert(message)
            _ = try await store.insert(push)
            var (relayed, sent) = (message.relay, push.relay)
            (relayed.state, relayed.lease, sent.state, sent.lease) = (.relayed, nil, .relayed, nil)
            for lease in [Lease(owner: "another", until: 5_000), Lease(owner: "o", until: 5_001)] {
                #expect(try await !store.settle(.message(message.msiKey), leased: lease, relayed))
                #expect(try await !store.settle(.push(push.id), leased: lease, sent))
            }
            #expect(try await !store.settle(.message(ObjectID()), leased: Self.lease, relayed))
            #expect(try await store.message(message.msiKey) == message)
            #expect(try await store.push(push.id) == push)
            // Only one of two outcomes with the same lease is stored.
            #expect(try await store.settle(.message(message.msiKey), leased: Self.lease, relayed))
            #expect(try await !store.settle(.message(message.msiKey), leased: Self.lease, message.relay))
            #expect(try await store.message(message.msiKey)?.relay == relayed)
        }
    }
}
