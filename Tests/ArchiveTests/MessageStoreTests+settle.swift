import Schemas
import Store
import TestSupport
import Testing
import Base

@testable import Archive

/// The outcomes of turns, which are stored by the lease alone.
extension MessageStoreTests {
    private static let lease = Lease(owner: "me", until: 10_000)

    /// The record of a leased message after a turn that FCM has accepted.
    private static func relayed(_ message: Message, at moment: UnixMilliseconds = 2_000) -> RelayRecord {
        var record = message.relay
        (record.state, record.attempts, record.nextAttempt, record.lease) = (.relayed, record.attempts + 1, nil, nil)
        (record.ended, record.accepted) = (moment, moment)
        for index in record.components.indices {
            record.components[index].state = .accepted
            record.components[index].name = "projects/p/messages/\(index)"
            record.components[index].acceptedAt = moment
        }
        return record
    }

    @Test(
        "A turn's outcome is stored if the message still has the lease, and is read back as it was", arguments: StoreKind.allCases
    )
    func settled(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let message = Self.message(lease: Self.lease)
            _ = try await store.insert(message)
            let record = Self.relayed(message)
            #expect(try await store.settle(.message(message.msiKey), leased: Self.lease, record))
            var expected = message
            expected.relay = record
            #expect(try await store.message(message.msiKey) == expected)
            #expect(try await store.claim(Self.claim(9), lease: Self.lease, now: 20_000).isEmpty)
            #expect(try await store.lastAcceptance() == 2_000)
            // A later outcome cannot replace it.
            let later = Self.relayed(message, at: 3_000)
            #expect(try await !store.settle(.message(message.msiKey), leased: Self.lease, later))
            #expect(try await store.message(message.msiKey) == expected)
        }
    }

    @Test("A claimed message that is to be tried again is due then, without its earlier error", arguments: StoreKind.allCases)
    func settledForRetry(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let message = Self.message()
            _ = try await store.insert(message)
            let trace = [Intervention(action: .retry, at: 5, by: "Ann")]
            try await store.update(message.msiKey) { record, _ in
                record.trace = trace
                record.components[0].error = DeliveryError(class: .retryable, code: "QUOTA", message: "wait", retryAfter: 5_000)
            }
            let claimed = try await store.claim(Self.claim(1), lease: Self.lease, now: 2_000)
            #expect(claimed.map(\.record.lease) == [Self.lease])
            var record = message.relay
            (record.state, record.attempts, record.nextAttempt) = (.retrying, 1, 7_000)
            record.components[1].error = DeliveryError(class: .retryable, code: "UNAVAILABLE", message: "later")
            #expect(try await store.settle(.message(message.msiKey), leased: Self.lease, record))
            // The trace is not the turn's.
            record.trace = trace
            #expect(try await store.message(message.msiKey)?.relay == record)
            let next = Lease(owner: "next", until: 20_000)
            #expect(try await store.claim(Self.claim(1), lease: next, now: 6_999).isEmpty)
            #expect(try await store.claim(Self.claim(1), lease: next, now: 7_000).map(\.record.lease) == [next])
            #expect(try await store.update(message.msiKey) { stored, _ in stored.attempts += 1 }?.relay.attempts == 2)
        }
    }

    @Test("An outcome changes nothing if the message has another lease, or none, or is gone", arguments: StoreKind.allCases)
    func lostLease(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let messages = [
                Self.message(lease: Lease(owner: "another", until: Self.lease.until)),
                Self.message(lease: Lease(owner: Self.lease.owner, until: Self.lease.until + 1)), Self.message(),
            ]
            for message in messages {
                _ = try await store.insert(message)
                #expect(try await !store.settle(.message(message.msiKey), leased: Self.lease, Self.relayed(message)))
                #expect(try await store.message(message.msiKey) == message)
            }
            let gone = Self.message(lease: Self.lease)
            #expect(try await !store.settle(.message(gone.msiKey), leased: Self.lease, Self.relayed(gone)))
            #expect(try await store.message(gone.msiKey) == nil)
        }
    }

    @Test(
        "Of many outcomes at the same time, exactly those are stored whose lease was not lost", arguments: StoreKind.allCases)
    func manySettled(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let messages = (0..<120).map { Self.message("\($0)", lease: Self.lease) }
            try await concurrently(messages.count) { number in try await store.insert(messages[number]) }
            let lost = Set(messages.indices.filter { $0 % 7 == 3 })
            let other = Lease(owner: "another", until: 20_000)
            for number in lost {
                try await store.update(messages[number].msiKey) { record, _ in
                    (record.lease, record.nextAttempt) = (other, other.until)
                }
            }
            let settled = try await concurrently(messages.count) { number in
                let record = Self.relayed(messages[number])
                let isStored = try await store.settle(.message(messages[number].msiKey), leased: Self.lease, record)
                return (number, isStored)
            }
            #expect(Set(settled.filter { !$0.1 }.map(\.0)) == lost)
            for (number, message) in messages.enumerated() {
                let stored = try #require(try await store.message(message.msiKey)).relay
                #expect(lost.contains(number) ? stored.lease == other : stored == Self.relayed(message))
            }
        }
    }

    @Test("Changes of other kinds and outcomes at the same time are all kept", arguments: StoreKind.allCases)
    func settledBesideChanges(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let messages = (0..<10).map { Self.message("\($0)", lease: Self.lease) }
            for message in messages { _ = try await store.insert(message) }
            try await concurrently(messages.count * 2) { number in
                let message = messages[number / 2]
                if number % 2 == 0 {
                    #expect(try await store.settle(.message(message.msiKey), leased: Self.lease, Self.relayed(message)))
                } else {
                    try await store.update(message.msiKey) { record, _ in
                        record.leaveTrace(.approve, by: "Ann", at: 5)
                    }
                }
            }
            for message in messages {
                var expected = Self.relayed(message)
                expected.trace = [Intervention(action: .approve, at: 5, by: "Ann")]
                #expect(try await store.message(message.msiKey)?.relay == expected)
            }
        }
    }
}

extension PushStoreTests {
    @Test(
        "A push's outcome is stored with what became of each recipient, if it still has the lease", arguments: StoreKind.allCases)
    func settled(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let lease = Lease(owner: "me", until: 10_000)
            let push = Self.push("k", recipients: (0..<100).map { .token("token-\($0)") }, lease: lease)
            let known = try await store.insert(push)
            #expect(known == nil)
            var record = push.relay
            (record.state, record.attempts, record.nextAttempt, record.lease, record.ended) = (.failed, 1, nil, nil, 3_000)
            for index in record.recipients.indices {
                record.recipients[index].state = index % 2 == 0 ? .accepted : .failed
                record.recipients[index].name = index % 2 == 0 ? "projects/p/messages/\(index)" : nil
                record.recipients[index].error = index % 2 == 0 ? nil : DeliveryError(.unregistered)
            }
            let other = Lease(owner: "another", until: 10_000)
            #expect(try await !store.settle(.push(push.id), leased: other, record))
            #expect(try await store.push(push.id) == push)
            #expect(try await store.settle(.push(push.id), leased: lease, record))
            #expect(try await store.push(push.id)?.relay == record)
            #expect(try await !store.settle(.push(ObjectID()), leased: lease, record))
        }
    }
}
