import Archive
import Schemas
import Synchronization
import TestSupport
import Testing

@testable import MessageLog

@Suite("An idle outbox", .timeLimit(.minutes(10)))
struct SilentOutboxTests {
    /// Only regular claims find messages that become due later. If one claim is omitted, there may be no other.
    @Test("An idle outbox keeps looking for due messages of both distributions")
    func keepsLooking() async throws {
        // Many outboxes for a few seconds show the same as one outbox for many minutes.
        let outboxes = 400
        let claims = Mutex(
            [Urgency: [Int]](uniqueKeysWithValues: Urgency.allCases.map { ($0, .init(repeating: 0, count: outboxes)) }))
        try await withArchive { store in
            let relay = AcceptingRelay()
            let running = (0..<outboxes).map { index in
                let empty = ClaimedStore(store: store) { claim, _, _ in
                    claims.withLock { $0[claim.urgency]?[index] += 1 }
                    // A claim takes a moment, as with a real database. So the next claim is due slightly after the first alarm.
                    try await Task.sleep(for: .milliseconds(1))
                    return []
                }
                return Task { try await Outbox.sample(empty, relay).run() }
            }
            try await eventually {
                claims.withLock { $0.values.allSatisfy { $0.allSatisfy { $0 >= 5 } } }
            }
            for task in running { task.cancel() }
            for task in running { _ = await task.result }
        }
    }
}
