import DequeModule
import Archive
import Schemas
import Base

/// Gathers the reports of phones: those that arrive while others are being stored are then stored together. Thousands of phones
/// report the same message within a minute.
actor ReceiptBatcher {
    private let store: any MessageStore
    private var waiting: Deque<(report: AddReceipts, stored: CheckedContinuation<Void, any Error>)> = []
    private var isStoring = false

    /// These two limits bound how long one write keeps posts waiting for the database.
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

extension MessageStore {
    /// What the archive knows of how many phones a message to a topic reaches.
    func reach(
        of topic: TopicKey, now: UnixMilliseconds, checkStillWanted: @escaping @Sendable () throws -> Void
    ) async throws -> ReadReach.Reply {
        let counted = try await countedMessage(of: topic, now: now, checkStillWanted: checkStillWanted)
        return ReadReach.Reply(
            counted: counted, installations: try await installations(reportedSince: now - AddReceipts.memory))
    }

    /// The message by whose receipts the phones of a topic are counted (``ReadReach/Reply/counted``).
    func countedMessage(
        of topic: TopicKey, now: UnixMilliseconds, checkStillWanted: @escaping @Sendable () throws -> Void
    ) async throws -> ReceivedMessage? {
        var filter = MessageFilter()
        filter.topics = [topic]
        let messages = try await page(filter, before: nil, limit: ReadReach.maxMessages, checkStillWanted: checkStillWanted)
        let receipts = try await receipts(of: messages.map(\.msiKey))
        let received = messages.compactMap { message -> ReceivedMessage? in
            guard let count = receipts[message.msiKey]?.received, count > 0 else { return nil }
            return ReceivedMessage(msiKey: message.msiKey, timestamp: message.timestamp, received: count)
        }
        let recent = received.filter { $0.timestamp >= now - ReadReach.recency }
        return recent.max { $0.received < $1.received } ?? received.first
    }
}
