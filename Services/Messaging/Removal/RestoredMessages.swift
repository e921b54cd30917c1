import Base
import CoreMetrics
import Instruments
import Logging
import Schemas
import Store
import Synchronization

/// Removes messages again that `msi restore` has put back from a backup, and that the log of removed messages names.
///
/// With MongoDB each machine of the service has a log. So the marks of the restore stay for a day, in which each instance looks
/// at its start.
final class RestoredMessages: Sendable {
    private let changes: MessagingChanges
    private let digests: MessageDigests
    private let log: RemovedMessages
    private let isAlone: Bool
    private let logger: Logger
    private let hasLooked = Mutex(false)

    private static let pageSize = 200
    private static let markTime = Milliseconds.seconds(86_400)

    /// - Parameter isAlone: Whether no other machine has a log.
    init(changes: MessagingChanges, digests: MessageDigests, log: RemovedMessages, isAlone: Bool, logger: Logger) {
        self.changes = changes
        self.digests = digests
        self.log = log
        self.isAlone = isAlone
        self.logger = logger
    }

    /// Checks that an answer may have messages: none of a backup that was removed since is among them.
    ///
    /// - Throws: ``CommandFailure`` with `unavailable` until the first ``look()`` has succeeded.
    func requireLook() throws(CommandFailure) {
        guard hasLooked.withLock(\.self) else {
            throw CommandFailure(
                .unavailable, "messages of a backup may have to be removed first; try again", retryAfter: 1_000)
        }
    }

    /// Looks at all conversations that a restore has put back.
    func look() async throws {
        try await removeAgain()
        hasLooked.withLock { $0 = true }
    }

    private func removeAgain() async throws {
        var (cursor, count): (Cursor?, Int) = (nil, 0)
        var numbers: [String: Int64]?
        let restored = Query(
            where: MessagingStore.conversationRestored >= 0, order: .ascending(MessagingStore.conversationRestored))
        repeat {
            let page = try await changes.store.page(
                of: MessagingStore.conversations, restored, after: cursor, limit: Self.pageSize)
            guard !page.documents.isEmpty else { break }
            if numbers == nil { numbers = try await log.numbers() }
            let digest = try await digests.digest()
            for conversation in page.documents.map(\.document) {
                let batches = [conversation.first.account, conversation.second.account].map { account in
                    MessageBatch(
                        conversation: conversation.id, to: account,
                        upTo: numbers?[digest.place(conversation.id, to: account)] ?? 0)
                }
                count += try await remove(batches.filter { $0.upTo > 0 }, of: conversation.id)
            }
            cursor = page.next
        } while cursor != nil
        guard count > 0 else { return }
        Instrument.messagingRemovals.counter(["reason": RemovalReason.restored.rawValue]).increment(by: count)
        logger.notice("messages of a backup were removed again", metadata: ["messages": "\(count)"])
    }

    /// - Returns: How many were removed.
    private func remove(_ batches: [MessageBatch], of id: String) async throws -> Int {
        var count = 0
        for batch in batches {
            count += try await changes.makeAll { change in
                let messages = try change.transaction.messages(batch).documents.map(\.document)
                try change.remove(messages, because: .restored)
                return messages.count
            }
        }
        try await changes.make(by: .program) { [isAlone] change in
            guard try change.transaction.get(id, from: MessagingStore.conversations) != nil else { return }
            let oldest = change.now - Self.markTime
            try change.transaction.update(id, in: MessagingStore.conversations) { conversation in
                for batch in batches {
                    conversation[batch.to].removed = max(conversation[batch.to].removed, batch.upTo)
                    // A clock that is behind that of the removal gives no number again that the log names.
                    conversation.last = max(conversation.last, batch.upTo)
                }
                if isAlone || conversation.restored.map({ $0 <= oldest }) ?? true { conversation.restored = nil }
            }
        }
        return count
    }
}
