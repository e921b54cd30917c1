import MessageStorage
import Schemas

/// Gathers the reports of phones: those that come while others are being stored are stored together. Thousands of phones report the
/// same message within a minute.
actor ReceiptBook {
    private let store: any MessageStore
    private var waiting: [(report: AddReceipts, stored: CheckedContinuation<Void, any Error>)] = []
    private var isStoring = false

    /// Limits the time for which posts wait for the database.
    private static let maxPerWrite = 200

    init(store: any MessageStore) {
        self.store = store
    }

    /// Counts a report, and returns once it is stored.
    ///
    /// - Throws: The error of the store. The report may be repeated.
    func add(_ report: AddReceipts) async throws {
        try await withCheckedThrowingContinuation { stored in
            waiting.append((report, stored))
            guard !isStoring else { return }
            isStoring = true
            Task { await storeWaiting() }
        }
    }

    private func storeWaiting() async {
        while !waiting.isEmpty {
            let batch = waiting.prefix(Self.maxPerWrite)
            waiting.removeFirst(batch.count)
            do {
                try await store.add(batch.map(\.report), now: .now)
                for (_, stored) in batch { stored.resume() }
            } catch {
                for (_, stored) in batch { stored.resume(throwing: error) }
            }
        }
        isStoring = false
    }
}
