import Schemas
import Store

/// Removes statuses that have ended or that `msi restore` put back, uploads that nobody has used in time, and old pictures of the
/// hub's messages.
///
/// It decides nothing: no answer has them any more. Each instance may do all of it. It is done in short transactions, and not
/// too many of them in a second, so that others do not wait longer while a million statuses end.
struct StatusLoop: Sendable {
    private let changes: MessagingChanges
    /// When the next of them is to be removed; `nil` for none.
    private let next: @Sendable () async throws -> UnixMilliseconds?

    static let period = Duration.seconds(1)
    private static let maxPerTransaction = 100
    private static let maxPerRound = 2_000
    /// Between two transactions, for those of others.
    private static let pause = Duration.milliseconds(20)

    private typealias Part = @Sendable (inout MessagingChange, Int) throws -> Int
    private static let parts: [Part] = [
        { try $0.removeRestoredStatuses(limit: $1) },
        { try $0.removeEndedStatuses(limit: $1) },
        { try $0.removeEndedPictures(limit: $1) },
    ]

    init(changes: MessagingChanges) {
        self.changes = changes
        // Without a condition on the time, so that nothing is read while nothing changes.
        next = changes.store.repeatedSnapshot { try $0.nextEnd() }
    }

    /// Removes what is due, and leaves to the next round what is too much.
    func round() async throws {
        guard let end = try await next(), end <= changes.now() else { return }
        for part in Self.parts {
            var (count, isMore) = (0, true)
            while isMore, count < Self.maxPerRound {
                let found = try await changes.make(by: .program) { change in try part(&change, Self.maxPerTransaction) }
                count += found
                isMore = found == Self.maxPerTransaction
                if isMore { try await Task.sleep(for: Self.pause) }
            }
        }
    }
}

extension Transaction {
    fileprivate func nextEnd() throws -> UnixMilliseconds? {
        let restored = Query(where: MessagingStore.statusRestored >= 0, order: .ascending(MessagingStore.statusRestored))
        let ended = Query(where: MessagingStore.statusEnd >= 0, order: .ascending(MessagingStore.statusEnd))
        let unused = Query(where: MessagingStore.useEnd >= 0, order: .ascending(MessagingStore.useEnd))
        let ends: [UnixMilliseconds?] = [
            try page(of: MessagingStore.statuses, restored, limit: 1).documents.first?.document.restored,
            try page(of: MessagingStore.statuses, ended, limit: 1).documents.first?.document.expires,
            try page(of: MessagingStore.uses, unused, limit: 1).documents.first?.document.expires,
        ]
        return ends.compactMap(\.self).min()
    }
}
