import MessageStorage
import Schemas
import Synchronization
import Time

/// The time of a change of an item.
struct ChangeTime: Sendable {
    /// The system clock. It decides what is due, leased and expired.
    let now: UnixMilliseconds
    /// The time to record: now, but after every earlier change whose time the item has. That one may have been made by a clock that
    /// is ahead of this one, of another machine or before a correction.
    let recorded: UnixMilliseconds

    init(now: UnixMilliseconds, recorded: UnixMilliseconds? = nil) {
        self.now = now
        self.recorded = recorded ?? now
    }
}

/// An item after a change, and the time of the change.
struct ChangedItem: Sendable {
    let item: OutboxItem
    let changed: UnixMilliseconds
}

extension MessageStore {
    /// Changes the record of a message or a push atomically, and determines the time of the change in the same step: what follows
    /// sees the changes of an item in their order.
    ///
    /// - Parameters:
    ///   - audit: Stored with the change of a message for the audit log.
    ///   - change: A pure function of the stored record and the time, which may be called more than once. If it throws, nothing is
    ///     changed and its error is thrown.
    /// - Returns: `nil` if the item does not exist.
    func change(
        _ key: OutboxKey, audit: MessageAudit? = nil,
        _ change: @escaping @Sendable (inout any DeliveryRecord, OutboxItem, ChangeTime) throws -> Void
    ) async throws -> ChangedItem? {
        let time = Mutex(UnixMilliseconds(rawValue: 0))
        let item = try await update(key, audit: audit) { record, item in
            let changed = item.timeOfChange(at: .now)
            try change(&record, item, changed)
            time.withLock { $0 = changed.recorded }
        }
        return item.map { ChangedItem(item: $0, changed: time.withLock(\.self)) }
    }
}

extension OutboxItem {
    fileprivate func timeOfChange(at now: UnixMilliseconds) -> ChangeTime {
        let known = [message?.timestamp, record.trace?.last?.at, record.ended].compactMap(\.self)
        return ChangeTime(now: now, recorded: known.max().map { max(now, $0 + 1) })
    }
}
