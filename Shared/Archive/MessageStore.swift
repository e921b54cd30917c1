package import Base
package import Logging
package import Store
package import Schemas

/// The archive of messages with their relay records (the seed's Message DAO), and the pushes of other services with theirs.
///
/// Every method throws ``CommandFailure`` with status `unavailable` if the database is unreachable. Writing methods throw
/// `storage_full` if there is no room. Pages and claims leave out unreadable documents, and log each of them once.
package protocol MessageStore: CheckedStore {
    /// The entries that the audit log has not acknowledged.
    var audit: AuditQueue { get }

    /// Stores a message durably, unless a message with its `msi_key` or its sender's idempotency key is stored already.
    ///
    /// - Parameter audit: Stored with the message for the audit log, in the same write.
    /// - Returns: `nil` if the message was stored; otherwise the existing one, and nothing has changed.
    func insert(_ message: Message, audit: MessageAudit?) async throws -> Message?

    func message(_ msiKey: ObjectID) async throws -> Message?

    /// The message that a sender posted with an idempotency key.
    func message(of sender: String, idempotencyKey: String) async throws -> Message?

    /// One page of the matching messages, newest first: by timestamp, then by `msi_key`.
    ///
    /// - Parameters:
    ///   - before: The last message of the previous page.
    ///   - checkStillWanted: Called when the reading begins, which may be long after the call. Throws if the caller has given up.
    func page(
        _ filter: MessageFilter, before: PageCursor?, limit: Int, checkStillWanted: @escaping @Sendable () throws -> Void
    ) async throws -> [Message]

    /// Messages of topics that were accepted (``RelayRecord/accepted``), by `relay.accepted`, then by `msi_key`. At the end, the page is
    /// not full.
    ///
    /// - Parameters:
    ///   - after: Where the previous page ended.
    ///   - checkStillWanted: As for pages.
    func accepted(
        _ topics: [TopicKey], after: PageCursor, limit: Int, checkStillWanted: @escaping @Sendable () throws -> Void
    ) async throws -> AcceptedPage

    /// The same of all topics.
    func accepted(
        after: PageCursor, limit: Int, checkStillWanted: @escaping @Sendable () throws -> Void
    ) async throws -> AcceptedPage

    /// The largest `relay.accepted`; `nil` if there is none.
    func lastAcceptance() async throws -> UnixMilliseconds?

    /// The newest Alerts that are due, leased or not, and of which FCM has accepted nothing, newest first. The cost depends on the
    /// number of topics with such Alerts, and not on that of the Alerts.
    ///
    /// - Parameters:
    ///   - now: The system clock, which decides what is due and expired.
    ///   - moment: Those that were posted between this time and now are left out. One that was posted after now has its time from a
    ///     clock that is ahead.
    ///   - maxPerTopic: So that one topic does not hide the others.
    ///   - isWanted: Whether an Alert counts. Of each topic at most ``maxReadAlerts`` are asked about.
    func dueAlerts(
        at now: UnixMilliseconds, postedBy moment: UnixMilliseconds, maxPerTopic: Int, limit: Int,
        where isWanted: @escaping @Sendable (Message) -> Bool
    ) async throws -> [Message]

    /// The Alerts that were recalled since a time, the last ones first.
    ///
    /// - Parameter isWanted: Whether an Alert counts. At most ``maxReadAlerts`` are asked about.
    func recalledAlerts(
        since moment: UnixMilliseconds, limit: Int, where isWanted: @escaping @Sendable (Message) -> Bool
    ) async throws -> [Message]

    /// How many messages are in which state. Of unreadable documents those count whose state is readable.
    ///
    /// - Parameters:
    ///   - now: Decides which messages are scheduled for later.
    ///   - checkStillWanted: As for pages.
    func statistics(
        _ command: CountMessages, now: UnixMilliseconds, checkStillWanted: @escaping @Sendable () throws -> Void
    ) async throws -> MessageStatistics

    /// The newest follow-ups of messages, at most ``maxFollowUps`` for each, oldest first. Messages without follow-ups are left out.
    func followUps(of msiKeys: [ObjectID]) async throws -> [ObjectID: [FollowUp]]

    /// The corrections of a message, with their states.
    func corrections(of msiKey: ObjectID) async throws -> [Correction]

    /// Counts what phones report. A report whose number is not above that of the installation's last one changes nothing. Messages
    /// that are not stored, or that no phone can have yet, are left out: no relay has taken them, and they were not due before
    /// they ended. A report of no other messages changes nothing.
    ///
    /// - Parameters:
    ///   - now: Installations that have not reported for ``AddReceipts/memory`` are forgotten.
    ///   - maxInstallations: About how many installations are remembered: those that have reported last.
    func add(_ reports: [AddReceipts], now: UnixMilliseconds, maxInstallations: Int) async throws

    /// How many phones have reported messages. Messages without a report are left out.
    func receipts(of msiKeys: [ObjectID]) async throws -> [ObjectID: MessageReceipts]

    /// How many installations have reported since a time; at most those that are remembered.
    func installations(reportedSince moment: UnixMilliseconds) async throws -> Int

    /// Replaces the counts of messages by those of another archive.
    func set(_ receipts: [ObjectID: MessageReceipts]) async throws

    /// Stores a push durably, unless its sender's idempotency key is stored already.
    ///
    /// - Returns: `nil` if the push was stored; otherwise the existing one, and nothing has changed.
    func insert(_ push: Push) async throws -> Push?

    func push(_ id: ObjectID) async throws -> Push?

    /// The push that a sender logged with an idempotency key.
    func push(of sender: String, idempotencyKey: String) async throws -> Push?

    /// Pushes of a sender whose idempotency keys begin with a text and are longer, in the order of the keys' bytes.
    ///
    /// - Parameter after: The key of the last push of the previous page.
    func pushes(of sender: String, keyPrefix: String, after: String?, limit: Int) async throws -> [Push]

    /// Pushes in the order of their ids.
    ///
    /// - Parameter after: The last push of the previous page.
    func pushes(after: ObjectID?, limit: Int) async throws -> [Push]

    /// Leases what is due in a queue of the outbox. The record gets the lease, and the lease's end as its next attempt by the queue's
    /// transport. When it is due in its other queue stays, so leased items are left out. A claim is atomic: only one of several claimants
    /// gets an item.
    ///
    /// If more items are due than requested, each fairness key has its share (``FairShare``). Within a key, items that have been
    /// due longest go first.
    ///
    /// - Throws: ``PartialClaim`` if the database failed after some items were leased.
    func claim(_ claim: Claim, lease: Lease, now: UnixMilliseconds) async throws -> [OutboxItem]

    /// Changes a message's relay record atomically. No concurrent change is lost.
    ///
    /// - Parameters:
    ///   - audit: Stored with the change for the audit log, in the same write.
    ///   - change: A pure function of the stored message, which may be called more than once. If it throws, nothing is
    ///     changed and its error is thrown.
    /// - Returns: The changed message; `nil` if it does not exist.
    @discardableResult
    func update(
        _ msiKey: ObjectID, audit: MessageAudit?, _ change: @escaping @Sendable (inout RelayRecord, Message) throws -> Void
    ) async throws -> Message?

    /// Changes what a message says and when it goes out, with its relay record, atomically: a claim gets the message as it was or as it
    /// is. The search finds it by its new texts. Its keys, sender, timestamp, topic, distribution and what it follows stay.
    ///
    /// - Parameters:
    ///   - audit: Stored with the change for the audit log, in the same write.
    ///   - change: A pure function of the stored message, which may be called more than once. If it throws, nothing is changed and its
    ///     error is thrown.
    /// - Returns: The changed message; `nil` if it does not exist.
    @discardableResult
    func edit(
        _ msiKey: ObjectID, audit: MessageAudit?, _ change: @escaping @Sendable (inout Message) throws -> Void
    ) async throws -> Message?

    /// Changes a push's record atomically, as for messages.
    @discardableResult
    func update(push id: ObjectID, _ change: @escaping @Sendable (inout PushRecord, Push) throws -> Void) async throws -> Push?

    /// Stores the record that an item has after a turn: one write of what a turn changes, with no read before it. The trace stays.
    ///
    /// - Parameters:
    ///   - lease: The lease that the stored record must have. While it lasts, only its owner changes the record.
    ///   - record: Of the key's kind.
    /// - Returns: `false` if the item has another lease or none, or does not exist. Nothing has changed then. If the answer to a call was
    ///   lost, its repetition may return either: the record is stored, and the lease has ended with it.
    func settle(_ key: OutboxKey, leased lease: Lease, _ record: any DeliveryRecord) async throws -> Bool

    /// Releases all leases of an owner. What would become due at the end of its lease is due at once.
    func releaseLeases(of owner: String, now: UnixMilliseconds) async throws

    /// Expired items that have not ended and are not leased, in the order of their expiry.
    func expired(by now: UnixMilliseconds, limit: Int) async throws -> [OutboxKey]

    /// Items that satisfy a condition and whose next attempt, by either transport, is after the first time, and at the second time at the
    /// latest. Unreadable items are left out.
    func waiting(
        after now: UnixMilliseconds, until end: UnixMilliseconds, where isWanted: @escaping @Sendable (OutboxItem) -> Bool
    ) async throws -> [OutboxKey]

    /// Removes messages, and then pushes, that were posted and ended before the given time, the oldest first. What the audit log has
    /// not acknowledged stays.
    ///
    /// - Parameters:
    ///   - origin: The origin of the messages; `nil` for all messages and pushes.
    ///   - limit: The maximum number to remove.
    /// - Returns: How many were removed.
    func removeArchived(of origin: MessageOrigin?, before moment: UnixMilliseconds, limit: Int) async throws -> Int

    /// Removes blocks of Web Push, and pushes to persons, that ended before the given time, the first ones first.
    ///
    /// - Parameter limit: The maximum number to remove.
    /// - Returns: How many were removed.
    func removeBlocks(endedBefore moment: UnixMilliseconds, limit: Int) async throws -> Int

    /// Removes the traces of what was removed and changed from the files. With MongoDB it does nothing: the server overwrites its files in
    /// its own time.
    ///
    /// - Throws: ``CommandFailure`` with status `unavailable` while a long read or another process needs the traces. Try again later.
    func removeTraces() async throws

    /// The size of the messages and pushes with indexes and write-ahead log, in bytes. Free space inside the files does not count, nor do
    /// remembered installations, which anyone can make up.
    func size() async throws -> Int64

    /// The space of the database's disk; `nil` if it is unknown.
    func diskSpace() async throws -> DiskSpace?

    /// Waits for running operations, and closes the database. Do not use the store afterwards.
    func close() async throws
}

extension MessageStore {
    /// How many Alerts a search for those that phones fetch reads at most, of one topic or of the recalled ones.
    static var maxReadAlerts: Int { 1_000 }

    /// A text above all keys that begin with a text, in the order of bytes.
    static func end(ofKeys prefix: String) -> String { prefix + "\u{10FFFF}" }

    /// Removes messages of every origin, and pushes.
    package func removeArchived(before moment: UnixMilliseconds, limit: Int) async throws -> Int {
        try await removeArchived(of: nil, before: moment, limit: limit)
    }

    /// Counts what phones report, and remembers ``AddReceipts/maxInstallations`` of them.
    package func add(_ reports: [AddReceipts], now: UnixMilliseconds) async throws {
        try await add(reports, now: now, maxInstallations: AddReceipts.maxInstallations)
    }

    /// Reads a page for a caller that waits without a limit.
    package func page(_ filter: MessageFilter, before cursor: PageCursor?, limit: Int) async throws -> [Message] {
        try await page(filter, before: cursor, limit: limit) {}
    }

    /// Reads accepted messages for a caller that waits without a limit.
    package func accepted(_ topics: [TopicKey], after cursor: PageCursor, limit: Int) async throws -> AcceptedPage {
        try await accepted(topics, after: cursor, limit: limit) {}
    }

    /// Reads accepted messages for a caller that waits without a limit.
    package func accepted(after cursor: PageCursor, limit: Int) async throws -> AcceptedPage {
        try await accepted(after: cursor, limit: limit) {}
    }

    /// Messages with their receipts, which are stored apart from them.
    package func withReceipts(_ messages: [Message]) async throws -> [Message] {
        let receipts = try await receipts(of: messages.map(\.msiKey))
        guard !receipts.isEmpty else { return messages }
        return messages.map { message in
            var message = message
            message.receipts = receipts[message.msiKey]
            return message
        }
    }

    /// All items whose next attempt is after the given time and that satisfy a condition. Unreadable items are left out.
    package func waiting(
        after now: UnixMilliseconds, where isWanted: @escaping @Sendable (OutboxItem) -> Bool
    ) async throws -> [OutboxKey] {
        try await waiting(after: now, until: .max, where: isWanted)
    }

    /// Stores a message of which the audit log needs to know nothing.
    package func insert(_ message: Message) async throws -> Message? {
        try await insert(message, audit: nil)
    }

    /// Changes a message's relay record. The audit log needs to know nothing of it.
    @discardableResult
    package func update(
        _ msiKey: ObjectID, _ change: @escaping @Sendable (inout RelayRecord, Message) throws -> Void
    ) async throws -> Message? {
        try await update(msiKey, audit: nil, change)
    }

    /// Changes the record of a message or a push atomically.
    ///
    /// - Parameters:
    ///   - audit: Stored with the change of a message for the audit log.
    ///   - change: A pure function of the stored record, which may be called more than once. If it throws, nothing is
    ///     changed and its error is thrown.
    /// - Returns: The changed item; `nil` if it does not exist.
    @discardableResult
    package func update(
        _ key: OutboxKey, audit: MessageAudit? = nil,
        _ change: @escaping @Sendable (inout any DeliveryRecord, OutboxItem) throws -> Void
    ) async throws -> OutboxItem? {
        switch key {
        case .message(let msiKey):
            try await update(msiKey, audit: audit) { record, message in
                record = try record.changed { try change(&$0, .message(message)) }
            }.map(OutboxItem.message)
        case .push(let id):
            try await update(push: id) { record, push in
                record = try record.changed { try change(&$0, .push(push)) }
            }.map(OutboxItem.push)
        }
    }
}

/// A page of accepted messages.
package struct AcceptedPage: Hashable, Sendable {
    package let messages: [AcceptedMessage]
    /// Where a full page ends; `nil` if it is the last one.
    package let end: PageCursor?
}

/// Among how many of the oldest waiting messages the first readable one is looked for.
let maxUnreadableWaiting = 10

/// Opens the archive: in MongoDB if there is a connection string, otherwise in a SQLite file.
///
/// - Parameters:
///   - folder: The folder of the file.
///   - maxPageTime: If a page from the file takes longer, with the wait for a reader, it fails with `deadline_exceeded`; `nil`
///     for no limit. The connections to MongoDB have another limit.
///   - unreadable: How documents and rows that are no messages are treated.
///   - logger: Gets lines about these, and about outages of MongoDB.
/// - Throws: ``CommandFailure`` with status `unavailable` if the file cannot be used. MongoDB may be unreachable.
package func openMessageStore(
    database: MongoURL?, folder: String, maxPageTime: Duration? = nil, unreadable: UnreadableDocument = .skipped, logger: Logger
) async throws -> any MessageStore {
    CounterSegment.unlink()
    if let database { return await MongoMessageStore(url: database, unreadable: unreadable, logger: logger) }
    return try SQLiteMessageStore(
        path: folder + "/message-log.sqlite", maxPageTime: maxPageTime, unreadable: unreadable, logger: logger)
}

extension MessageFilter {
    /// Whether another condition than the topics selects few messages, by another index.
    var isSelective: Bool {
        text != nil || sender != nil || traceID != nil || (state ?? .relayed) != .relayed
    }
}

/// The number of the archive's newest messages among which a page of many topics is looked for first.
let maxSearchedMessages = 500
