import Base
import Schemas
import Store

/// Removes messages that have waited for too long, the oldest first.
struct Expiry: Sendable {
    private let changes: MessagingChanges
    private let removal: MessageRemoval
    private let isNearlyFull: @Sendable () -> Bool
    private let oldest: @Sendable () async throws -> [DirectMessageDocument]

    static let period = Duration.seconds(1)
    /// How many transactions a round has, each for as many messages as ``MessageBatch/maxMessages``: others wait only briefly.
    private static let maxPerRound = 10

    /// - Parameter isNearlyFull: Whether nine tenths of the storage are used.
    init(changes: MessagingChanges, removal: MessageRemoval, isNearlyFull: @escaping @Sendable () -> Bool) {
        self.changes = changes
        self.removal = removal
        self.isNearlyFull = isNearlyFull
        // Without a condition on the time, so that nothing is read while nothing changes.
        oldest = changes.store.repeatedPage(
            of: MessagingStore.messages,
            Query(where: MessagingStore.messageAt >= 0, order: .ascending(MessagingStore.messageAt)), limit: 1)
    }

    /// One round, which leaves to the next one what is more.
    func round() async throws {
        let end = latestEnd
        guard let first = try await oldest().first, first.at <= end else { return }
        let old = Query(where: MessagingStore.messageAt <= end, order: .ascending(MessagingStore.messageAt))
        for _ in 0..<Self.maxPerRound {
            let page = try await changes.store.page(
                of: MessagingStore.messages, old, limit: MessageBatch.maxMessages)
            guard try await removal.remove(page.documents.map(\.document), because: .expired) > 0 else { return }
        }
    }

    /// When the oldest message should have been removed; `nil` if it may still wait, or there is none.
    func due() async throws -> UnixMilliseconds? {
        let end = latestEnd
        guard let first = try await oldest().first, first.at <= end else { return nil }
        return changes.now() - (end - first.at)
    }

    /// Messages that were sent then have waited for too long, and all earlier ones.
    private var latestEnd: UnixMilliseconds {
        changes.now() - changes.rules().waitingTime(isNearlyFull: isNearlyFull())
    }
}
