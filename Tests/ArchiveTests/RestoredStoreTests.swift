import Schemas
import TestSupport
import Testing
import Base

@testable import Archive

/// What `msi restore` does to an archive, for both databases.
@Suite("Restored store", .timeLimit(.minutes(10)))
struct RestoredStoreTests {
    @Test(
        "What has not ended is held and not claimed before it expires; what has ended is unchanged", arguments: StoreKind.allCases
    )
    func hold(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            var leased = MessageStoreTests.message("leased")
            (leased.relay.lease, leased.relay.nextAttempt) = (Lease(owner: "gone", until: 4_000), 4_000)
            var waiting = MessageStoreTests.message("waiting")
            waiting.approval = true
            waiting.relay = RelayRecord(held: .alert, until: waiting.expires)
            let ended = MessageStoreTests.message("ended")
            for message in [leased, waiting, ended] { _ = try await store.insert(message) }
            let done = try #require(
                try await store.update(ended.msiKey) { record, _ in
                    (record.state, record.nextAttempt, record.ended) = (.relayed, nil, 5)
                })
            let push = PushStoreTests.push("push", notBefore: 5_000)
            _ = try await store.insert(push)

            #expect(try await store.holdAfterRestore(by: "msi restore", at: 6_000) == 3)
            let trace = [Intervention(action: .restore, at: 6_000, by: "msi restore")]
            for relay in [try await store.message(leased.msiKey)?.relay, try await store.message(waiting.msiKey)?.relay] {
                #expect(relay?.state == .held && relay?.lease == nil && relay?.trace == trace && relay?.isHeldByRestore == true)
            }
            #expect(try await store.message(ended.msiKey) == done)
            let held = try #require(try await store.push(push.id)?.relay)
            #expect(held.state == .held && held.nextAttempt == push.expires && held.trace == trace)

            let end = min(leased.expires, push.expires)
            let lease = Lease(owner: "o", until: 99_000_000)
            for urgency in Urgency.allCases {
                #expect(try await store.claim(Claim(urgency, limit: 5, maxPerKey: 5), lease: lease, now: end - 1).isEmpty)
            }
            #expect(try await store.expired(by: end - 1, limit: 5) == [])
            let listed = try await store.heldByRestore()
            #expect(listed.map(\.key) == [leased.msiKey, waiting.msiKey, push.id].sorted())
            #expect(listed.first { $0.key == push.id }?.notBefore == 5_000)
            #expect(listed.filter { $0.needsApproval == true }.map(\.title) == ["waiting"])

            // A second restore of the same data holds it once.
            _ = try await store.holdAfterRestore(by: "msi restore", at: 7_000)
            #expect(try await store.message(leased.msiKey)?.relay.trace == trace)
        }
    }
}
