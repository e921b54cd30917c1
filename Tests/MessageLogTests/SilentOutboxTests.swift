import MessageStorage
import Schemas
import Synchronization
import TestSupport
import Testing

@testable import MessageLog

@Suite("An outbox to which nothing happens", .timeLimit(.minutes(1)))
struct SilentOutboxTests {
    /// What becomes due later is found by looking alone: one look that is left out may be the last.
    @Test("An idle outbox keeps looking for due messages of both distributions")
    func keepsLooking() async throws {
        // Many for a few seconds show what happens to one in many minutes.
        let outboxes = 400
        let looks = Mutex(
            [Urgency: [Int]](uniqueKeysWithValues: Urgency.allCases.map { ($0, .init(repeating: 0, count: outboxes)) }))
        try await withTemporaryFolder { folder in
            let store = try SQLiteMessageStore(path: folder + "/message-log.sqlite")
            let running = (0..<outboxes).map { index in
                let empty = ClaimedStore(store: store) { claim, _, _ in
                    looks.withLock { $0[claim.urgency]?[index] += 1 }
                    // As a database does, so that the next look is due a little after the alarm that was set first.
                    try await Task.sleep(for: .milliseconds(1))
                    return []
                }
                let outbox = Outbox(
                    store: empty, relay: RelayThatIsNotAsked(), owner: "\(index)", announcer: PushAnnouncer { _ in },
                    logger: quietLogger)
                return Task { try await outbox.run() }
            }
            try await eventually(within: .seconds(20)) {
                looks.withLock { $0.values.allSatisfy { $0.allSatisfy { $0 >= 5 } } }
            }
            for task in running { task.cancel() }
            for task in running { _ = await task.result }
            try store.close()
        }
    }

    private struct RelayThatIsNotAsked: Relay {
        func relay(_ command: RelayMessage, by end: UnixMilliseconds) async throws(CommandFailure) -> [ComponentOutcome] {
            Issue.record("there is nothing to relay")
            return []
        }

        func relay(
            _ command: RelayPush, by end: UnixMilliseconds
        ) async throws(CommandFailure) -> [Result<String, ComponentError>] {
            Issue.record("there is no push")
            return []
        }
    }
}
