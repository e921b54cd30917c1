import DequeModule
import MessageStorage
import Schemas

/// Gathers the reports of phones: those that come while others are being stored are stored together. Thousands of phones report the
/// same message within a minute.
actor ReceiptBook {
    private let store: any MessageStore
    private var waiting: Deque<(report: AddReceipts, stored: CheckedContinuation<Void, any Error>)> = []
    private var isStoring = false

    /// Both limit the time for which posts wait for the database.
    private static let maxReportsPerWrite = 200
    private static let maxMessagesPerWrite = 1_000
    /// Keeps the wait shorter than the callers' timeouts.
    static let maxWaiting = 2_000

    init(store: any MessageStore) {
        self.store = store
    }

    /// How many reports wait for the next write.
    var waitingCount: Int { waiting.count }

    /// Counts a report, and returns once it is stored.
    ///
    /// - Throws: ``CommandFailure`` with status `overloaded` if too many wait already, or the error of the store. The report may be
    ///   repeated.
    func add(_ report: AddReceipts) async throws {
        guard waiting.count < Self.maxWaiting else {
            throw CommandFailure(.overloaded, "too many phones report received messages now")
        }
        try await withCheckedThrowingContinuation { stored in
            waiting.append((report, stored))
            guard !isStoring else { return }
            isStoring = true
            Task { await storeWaiting() }
        }
    }

    private func storeWaiting() async {
        while !waiting.isEmpty {
            let batch = nextBatch()
            do {
                try await store.add(batch.map(\.report), now: .now)
                for (_, stored) in batch { stored.resume() }
            } catch {
                for (_, stored) in batch { stored.resume(throwing: error) }
            }
        }
        isStoring = false
    }

    /// As many waiting reports as one write may have; at least one.
    private func nextBatch() -> [(report: AddReceipts, stored: CheckedContinuation<Void, any Error>)] {
        var batch: [(report: AddReceipts, stored: CheckedContinuation<Void, any Error>)] = []
        var messages: Set<ObjectID> = []
        while let next = waiting.first, batch.count < Self.maxReportsPerWrite {
            messages.formUnion(next.report.messages)
            guard batch.isEmpty || messages.count <= Self.maxMessagesPerWrite else { break }
            batch.append(next)
            waiting.removeFirst()
        }
        return batch
    }
}
