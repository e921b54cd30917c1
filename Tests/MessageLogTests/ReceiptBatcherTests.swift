import Archive
import Schemas
import Synchronization
import TestSupport
import Testing

@testable import MessageLog

/// How reports of phones are gathered.
@Suite("Receipt batcher", .timeLimit(.minutes(10)))
struct ReceiptBatcherTests {
    /// A store whose writes of reports wait until a test says how they end.
    private final class SlowStore: Sendable {
        private struct State {
            var batches: [[AddReceipts]] = []
            var writes: [CheckedContinuation<Void, any Error>] = []
        }
        private let state = Mutex(State())

        var batches: [[AddReceipts]] { state.withLock(\.batches) }

        func add(_ reports: [AddReceipts]) async throws {
            try await withCheckedThrowingContinuation { write in
                state.withLock { state in
                    state.batches.append(reports)
                    state.writes.append(write)
                }
            }
        }

        /// Waits until a write has begun, and ends it.
        func end(write number: Int, with result: Result<Void, any Error> = .success(())) async throws {
            try await eventually { batches.count == number }
            state.withLock { $0.writes[number - 1] }.resume(with: result)
        }
    }

    private static func withBatcher(_ body: (ReceiptBatcher, SlowStore) async throws -> Void) async throws {
        try await withArchive { store in
            let slow = SlowStore()
            let claimed = ClaimedStore(
                store: store, claims: { _, _, _ in [] }, addReports: { reports, _ in try await slow.add(reports) })
            try await body(ReceiptBatcher(store: claimed), slow)
        }
    }

    private static func report(_ messages: Int = 1) -> AddReceipts {
        AddReceipts(installation: ObjectID(), report: 1, received: (0..<messages).map { _ in ObjectID() }, opened: [])
    }

    /// Adds reports, and returns the tasks that wait for them, once all wait.
    private static func add(_ reports: [AddReceipts], to batcher: ReceiptBatcher) async throws -> [Task<Void, any Error>] {
        var tasks: [Task<Void, any Error>] = []
        for report in reports {
            let before = await batcher.waitingCount
            tasks.append(Task { try await batcher.add(report) })
            try await eventually { await batcher.waitingCount > before }
        }
        return tasks
    }

    /// Begins a write, so that later reports wait.
    private static func begin(_ batcher: ReceiptBatcher, _ slow: SlowStore) async throws -> Task<Void, any Error> {
        let first = Task { try await batcher.add(report()) }
        try await eventually { slow.batches.count == 1 }
        return first
    }

    @Test("Reports that come during a write are stored together, and a failure concerns only those of one write")
    func together() async throws {
        try await Self.withBatcher { batcher, slow in
            let first = try await Self.begin(batcher, slow)
            let waiting = try await Self.add((0..<5).map { _ in Self.report() }, to: batcher)
            try await slow.end(write: 1)
            try await first.value
            try await slow.end(write: 2, with: .failure(CommandFailure(.unavailable, "away")))
            for task in waiting { await #expect(throws: CommandFailure(.unavailable, "away")) { try await task.value } }
            #expect(slow.batches.map(\.count) == [1, 5])
            let last = Task { try await batcher.add(Self.report()) }
            try await slow.end(write: 3)
            try await last.value
        }
    }

    @Test("A write has at most a thousand messages, in the order of the reports")
    func messagesPerWrite() async throws {
        try await Self.withBatcher { batcher, slow in
            let first = try await Self.begin(batcher, slow)
            let reports = (0..<7).map { _ in Self.report(200) }
            let waiting = try await Self.add(reports + [reports[5]], to: batcher)
            for number in 1...3 { try await slow.end(write: number) }
            try await first.value
            for task in waiting { try await task.value }
            #expect(slow.batches.dropFirst() == [Array(reports.prefix(5)), Array(reports.suffix(2)) + [reports[5]]])
        }
    }

    @Test("Beyond a number of waiting reports the batcher is overloaded")
    func overloaded() async throws {
        try await Self.withBatcher { batcher, slow in
            let first = try await Self.begin(batcher, slow)
            let waiting = (0..<ReceiptBatcher.maxWaiting).map { _ in Task { try await batcher.add(Self.report()) } }
            try await eventually { await batcher.waitingCount == ReceiptBatcher.maxWaiting }
            let failure = await #expect(throws: CommandFailure.self) { try await batcher.add(Self.report()) }
            #expect(failure?.status == .overloaded)
            // 200 reports a write.
            for number in 1...11 { try await slow.end(write: number) }
            try await first.value
            for task in waiting { try await task.value }
            #expect(slow.batches.map(\.count) == [1] + Array(repeating: 200, count: 10))
        }
    }
}
