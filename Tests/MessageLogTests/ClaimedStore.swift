import Base
import Archive
import Schemas
import Store
import Synchronization
import TestSupport

/// An archive with a test's own claims, and its own changes of messages.
struct ClaimedStore: MessageStore {
    let store: SQLiteMessageStore
    let claims: @Sendable (Claim, Lease, UnixMilliseconds) async throws -> [OutboxItem]
    /// Takes each insert and each update of a message, and may throw before or after it.
    var change: @Sendable (_ body: () async throws -> Message?) async throws -> Message? = { try await $0() }
    /// Takes what phones report.
    var addReports: @Sendable ([AddReceipts], UnixMilliseconds) async throws -> Void = { _, _ in }
    /// Instead of a removal by age.
    var removeAged: (@Sendable () async throws -> Int)?

    func claim(_ claim: Claim, lease: Lease, now: UnixMilliseconds) async throws -> [OutboxItem] {
        try await claims(claim, lease, now)
    }

    func insert(_ message: Message, audit: MessageAudit?) async throws -> Message? {
        try await change { try await store.insert(message, audit: audit) }
    }
    func message(_ msiKey: ObjectID) async throws -> Message? { try await store.message(msiKey) }
    func message(of sender: String, idempotencyKey: String) async throws -> Message? {
        try await store.message(of: sender, idempotencyKey: idempotencyKey)
    }
    func page(
        _ filter: MessageFilter, before: PageCursor?, limit: Int, checkStillWanted: @escaping @Sendable () throws -> Void
    ) async throws -> [Message] {
        try await store.page(filter, before: before, limit: limit, checkStillWanted: checkStillWanted)
    }
    func accepted(
        _ topics: [TopicKey], after: PageCursor, limit: Int, checkStillWanted: @escaping @Sendable () throws -> Void
    ) async throws -> AcceptedPage {
        try await store.accepted(topics, after: after, limit: limit, checkStillWanted: checkStillWanted)
    }
    func accepted(
        after: PageCursor, limit: Int, checkStillWanted: @escaping @Sendable () throws -> Void
    ) async throws -> AcceptedPage {
        try await store.accepted(after: after, limit: limit, checkStillWanted: checkStillWanted)
    }
    func dueAlerts(
        at now: UnixMilliseconds, postedBy moment: UnixMilliseconds, maxPerTopic: Int, limit: Int,
        where isWanted: @escaping @Sendable (Message) -> Bool
    ) async throws -> [Message] {
        try await store.dueAlerts(at: now, postedBy: moment, maxPerTopic: maxPerTopic, limit: limit, where: isWanted)
    }
    func recalledAlerts(
        since moment: UnixMilliseconds, limit: Int, where isWanted: @escaping @Sendable (Message) -> Bool
    ) async throws -> [Message] {
        try await store.recalledAlerts(since: moment, limit: limit, where: isWanted)
    }
    func lastAcceptance() async throws -> UnixMilliseconds? { try await store.lastAcceptance() }
    func statistics(
        _ command: CountMessages, now: UnixMilliseconds, checkStillWanted: @escaping @Sendable () throws -> Void
    ) async throws -> MessageStatistics {
        try await store.statistics(command, now: now, checkStillWanted: checkStillWanted)
    }
    func update(
        _ msiKey: ObjectID, audit: MessageAudit?, _ change: @escaping @Sendable (inout RelayRecord, Message) throws -> Void
    ) async throws -> Message? {
        try await self.change { try await store.update(msiKey, audit: audit, change) }
    }
    func edit(
        _ msiKey: ObjectID, audit: MessageAudit?, _ change: @escaping @Sendable (inout Message) throws -> Void
    ) async throws -> Message? {
        try await self.change { try await store.edit(msiKey, audit: audit, change) }
    }
    func followUps(of msiKeys: [ObjectID]) async throws -> [ObjectID: [FollowUp]] { try await store.followUps(of: msiKeys) }
    func corrections(of msiKey: ObjectID) async throws -> [Correction] { try await store.corrections(of: msiKey) }
    var audit: AuditQueue { store.audit }
    func add(_ reports: [AddReceipts], now: UnixMilliseconds, maxInstallations: Int) async throws {
        try await addReports(reports, now)
    }
    func receipts(of msiKeys: [ObjectID]) async throws -> [ObjectID: MessageReceipts] { try await store.receipts(of: msiKeys) }
    func installations(reportedSince moment: UnixMilliseconds) async throws -> Int {
        try await store.installations(reportedSince: moment)
    }
    func set(_ receipts: [ObjectID: MessageReceipts]) async throws { try await store.set(receipts) }
    func insert(_ push: Push) async throws -> Push? { try await store.insert(push) }
    func push(_ id: ObjectID) async throws -> Push? { try await store.push(id) }
    func push(of sender: String, idempotencyKey: String) async throws -> Push? {
        try await store.push(of: sender, idempotencyKey: idempotencyKey)
    }
    func pushes(of sender: String, keyPrefix: String, after last: String?, limit: Int) async throws -> [Push] {
        try await store.pushes(of: sender, keyPrefix: keyPrefix, after: last, limit: limit)
    }
    func pushes(after last: ObjectID?, limit: Int) async throws -> [Push] { try await store.pushes(after: last, limit: limit) }
    func update(
        push id: ObjectID, _ change: @escaping @Sendable (inout PushRecord, Push) throws -> Void
    ) async throws -> Push? {
        try await store.update(push: id, change)
    }
    func settle(_ key: OutboxKey, leased lease: Lease, _ record: any DeliveryRecord) async throws -> Bool {
        let isSettled = Mutex(false)
        _ = try await change {
            let settled = try await store.settle(key, leased: lease, record)
            isSettled.withLock { $0 = settled }
            guard settled, case .message(let msiKey) = key else { return nil }
            return try await store.message(msiKey)
        }
        return isSettled.withLock(\.self)
    }
    func releaseLeases(of owner: String, now: UnixMilliseconds) async throws {
        try await store.releaseLeases(of: owner, now: now)
    }
    func expired(by now: UnixMilliseconds, limit: Int) async throws -> [OutboxKey] {
        try await store.expired(by: now, limit: limit)
    }
    func waiting(
        after now: UnixMilliseconds, until end: UnixMilliseconds, where isWanted: @escaping @Sendable (OutboxItem) -> Bool
    ) async throws -> [OutboxKey] {
        try await store.waiting(after: now, until: end, where: isWanted)
    }
    func removeArchived(of origin: MessageOrigin?, before moment: UnixMilliseconds, limit: Int) async throws -> Int {
        if origin == nil, let removeAged { return try await removeAged() }
        return try await store.removeArchived(of: origin, before: moment, limit: limit)
    }
    func removeBlocks(endedBefore moment: UnixMilliseconds, limit: Int) async throws -> Int {
        try await store.removeBlocks(endedBefore: moment, limit: limit)
    }
    func removeTraces() async throws { try await store.removeTraces() }
    func check() async throws { try await store.check() }
    func writeHealth() async -> PartHealth { await store.writeHealth() }
    func size() async throws -> Int64 { try await store.size() }
    func diskSpace() async throws -> DiskSpace? { try await store.diskSpace() }
    func close() async throws { try await store.close() }
}

/// Runs a test with an empty archive in a file.
func withArchive<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: (SQLiteMessageStore) async throws -> Result
) async throws -> Result {
    try await withTemporaryFolder { folder in
        let store = try SQLiteMessageStore(path: folder + "/message-log.sqlite")
        let result = try await body(store)
        try await store.close()
        return result
    }
}
