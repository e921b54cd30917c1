package import Base
package import Store
import GRDB
package import Logging
package import Schemas

/// The archive in SQLite, with a row for each message, and the pushes, with a row for each push.
package struct SQLiteMessageStore: MessageStore {
    let database: EmbeddedDatabase
    let historyReaders: HistoryReaders
    /// For phones, which must not take the history's readers: anyone may be a phone.
    let phoneReaders: HistoryReaders
    let unreadable: UnreadableDocuments
    let due: DueItems
    let indexer: MessageIndexer
    /// Serialises the changes of a push, which are computed outside the database.
    let pushTurns = KeyedLock<ObjectID>()
    /// When the next item of each queue becomes due. It may be in the past: the item's key had no room in the last claim.
    private let nextDue = OutboxQueue.allCases.map { _ in RepeatedRead<UnixMilliseconds>() }
    /// When the next item expires. It may be in the past: a leased item is left to its turn.
    private let nextExpiry = RepeatedRead<UnixMilliseconds>()
    private let sizes = RepeatedRead<Int64>()
    /// The reports since the remembered installations were last counted.
    let uncountedReports = UncountedReports()
    package let audit: AuditQueue

    /// - Parameters:
    ///   - maxPageTime: If a page takes longer, with the wait for a reader, it fails with `deadline_exceeded`; `nil` for
    ///     no limit. A search may first wait an eighth of this time for the index to follow.
    ///   - unreadable: How pages and claims treat rows that are no messages.
    ///   - logger: Gets lines about these rows, and about outages of the full-text index.
    /// - Throws: ``CommandFailure`` with status `unavailable` if the file cannot be used.
    package init(
        path: String, maxPageTime: Duration? = nil, unreadable: UnreadableDocument = .skipped,
        logger: Logger = Logger(label: "msi-message-log")
    ) throws {
        historyReaders = HistoryReaders(maxTime: maxPageTime)
        phoneReaders = HistoryReaders(maxTime: maxPageTime, maxAtATime: 2)
        self.unreadable = UnreadableDocuments(of: "message", unreadable, logger: logger)
        due = DueItems(messages: self.unreadable, pushes: UnreadableDocuments(of: "push", unreadable, logger: logger))
        database = try EmbeddedDatabase(path: path, durability: .everyCommit, erases: true) { migrator in
            // Versions before 1.0.0 had other tables, of the step "1: messages and pushes". By its name such a file is refused.
            migrator.registerMigration("1: messages, pushes, and the words to index") { database in
                try MessageTables.create(in: database)
                try PushTables.create(in: database)
            }
        } prepare: {
            try WebPushColumns.prepare(in: $0)
            try ArchiveAudit.declaration.prepare($0, logger: logger)
        }
        audit = AuditQueue(of: Storage(ArchiveAudit.declaration, in: database, logger: logger))
        indexer = MessageIndexer(database, maxWait: maxPageTime.map { $0 / 8 }, logger: logger)
        indexer.catchUp()
    }

    package func close() async throws {
        await indexer.close()
        try database.close()
    }

    package func insert(_ message: Message, audit: MessageAudit?) async throws -> Message? {
        let insertion = try MessageInsertion(message, audit: audit)
        let known = try await database.write { try insertion.run(in: $0) }
        if known == nil { indexer.inserted() }
        return known
    }

    package func message(_ msiKey: ObjectID) async throws -> Message? {
        try await database.read { try MessageRow.find(msiKey, in: $0) }?.readDocument()
    }

    package func message(of sender: String, idempotencyKey: String) async throws -> Message? {
        try await database.read { try MessageRow.find(idempotencyKey, of: sender, in: $0) }?.readDocument()
    }

    package func page(
        _ filter: MessageFilter, before cursor: PageCursor?, limit: Int, checkStillWanted: @escaping @Sendable () throws -> Void
    ) async throws -> [Message] {
        guard filter.possibleTopics?.isEmpty != true else { return [] }
        if filter.text != nil {
            try checkStillWanted()
            await indexer.index()
        }
        return try await historyReaders.read(from: database, checkStillWanted: checkStillWanted) { [unreadable] database in
            var selection = MessageSelection(filter)
            if let cursor { try selection.begin(after: cursor, in: database) }
            var messages: [Message] = []
            while messages.count < limit {
                let missing = limit - messages.count
                let rows = try selection.next(missing, in: database)
                messages += try unreadable.messages(of: rows)
                // Omitted rows are replaced by further ones, because a page that is not full is the last one.
                guard rows.count == missing else { break }
            }
            return messages
        }
    }

    package func followUps(of msiKeys: [ObjectID]) async throws -> [ObjectID: [FollowUp]] {
        try await database.read { database in
            // Most messages have none: one search finds those that do.
            let keys = "[\(msiKeys.map { "\"\($0)\"" }.joined(separator: ","))]"
            let followed = try ObjectID.fetchAll(
                database, sql: "SELECT DISTINCT follows FROM message WHERE follows IN (SELECT value FROM json_each(?))",
                arguments: [keys])
            var followUps: [ObjectID: [FollowUp]] = [:]
            for key in followed {
                let rows = try Row.fetchAll(
                    database, sql: "SELECT msiKey, topicKey FROM message WHERE follows = ? ORDER BY position DESC LIMIT ?",
                    arguments: [key, maxFollowUps])
                followUps[key] = rows.reversed().map { FollowUp(msiKey: $0["msiKey"], topicKey: $0["topicKey"]) }
            }
            return followUps
        }
    }

    package func corrections(of msiKey: ObjectID) async throws -> [Correction] {
        try await database.read { [unreadable] database in
            let rows = try Row.fetchAll(
                database, sql: "SELECT msiKey, timestamp, state FROM message WHERE follows = ? AND correction",
                arguments: [msiKey])
            return try unreadable.readable(of: rows, named: "msiKey") { try CorrectionRow(row: $0).correction }
        }
    }

    package func claim(_ claim: Claim, lease: Lease, now: UnixMilliseconds) async throws -> [OutboxItem] {
        let revision = database.revision
        let nextDue = nextDue[Int(claim.queue.rawValue)]
        if let next = nextDue.value(at: revision), next > now { return [] }
        // Check first, without the writer: most of the time nothing is due.
        let next = try await database.read { [due] database in
            try due.keys(claim, now: now, in: database).isEmpty ? try DueItems.nextDue(of: claim.queue, in: database) : nil
        }
        if let next {
            nextDue.keep(next, at: revision)
            return []
        }
        let rows = try await database.write { [due] database in
            var claimed: [DueItems.LeasedRow] = []
            var shares = FairShare(of: claim, among: try due.keys(claim, now: now, in: database))
            while let (key, count) = shares.next() {
                let leased = try due.lease(claim, of: key, for: lease, now: now, limit: count, in: database)
                claimed += leased
                shares.brought(leased.count)
            }
            return claimed
        }
        return try due.items(of: rows)
    }

    @discardableResult
    package func update(
        _ msiKey: ObjectID, audit: MessageAudit?, _ change: @escaping @Sendable (inout RelayRecord, Message) throws -> Void
    ) async throws -> Message? {
        try await database.write { database in
            guard var message = try MessageRow.find(msiKey, in: database)?.readDocument() else { return nil }
            let stored = message
            try change(&message.relay, stored)
            _ = try RowUpdate(message.relay, in: MessageRow.self, msiKey).run(in: database)
            if let audit { try audit.insertion(about: stored).run(in: database) }
            return message
        }
    }

    @discardableResult
    package func edit(
        _ msiKey: ObjectID, audit: MessageAudit?, _ change: @escaping @Sendable (inout Message) throws -> Void
    ) async throws -> Message? {
        try await database.write { database in
            guard let row = try MessageRow.find(msiKey, in: database) else { return nil }
            let (stored, position) = (try row.readDocument(), try row.position)
            var message = stored
            try change(&message)
            try MessageRow(message, at: position).replace(in: database)
            try MessageText.replace(
                MessageText.words(of: stored), by: MessageText.words(of: message), at: position, in: database)
            if let audit { try audit.insertion(about: message).run(in: database) }
            return message
        }
    }

    package func settle(_ key: OutboxKey, leased lease: Lease, _ record: any DeliveryRecord) async throws -> Bool {
        let update: RowUpdate
        switch (key, record) {
        case (.message(let msiKey), let record as RelayRecord):
            update = try RowUpdate(record, in: MessageRow.self, msiKey, leased: lease)
        // A change of a push that is computed outside the database notices that the row has changed.
        case (.push(let id), let record as PushRecord):
            update = try RowUpdate(record, in: PushRow.self, id, leased: lease)
        default:
            preconditionFailure("the record of a message is a RelayRecord, and that of a push a PushRecord")
        }
        // The sender has the answer already. If the machine loses its power in between, the item is relayed again, as after any lost
        // outcome.
        return try await database.write(canWait: true) { try update.run(in: $0) }
    }

    package func releaseLeases(of owner: String, now: UnixMilliseconds) async throws {
        try await database.write { database in
            for table in OutboxTable.all { try table.releaseLeases(of: owner, now: now, in: database) }
        }
    }

    package func expired(by now: UnixMilliseconds, limit: Int) async throws -> [OutboxKey] {
        let next = try await nextExpiry.value(at: database.revision) {
            try await database.read { try DueItems.nextExpiry(in: $0) }
        }
        guard next <= now else { return [] }
        return try await database.read { try DueItems.expired(by: now, limit: limit, in: $0) }
    }

    package func waiting(
        after now: UnixMilliseconds, until end: UnixMilliseconds, where isWanted: @escaping @Sendable (OutboxItem) -> Bool
    ) async throws -> [OutboxKey] {
        try await database.read { try DueItems.waiting(after: now, until: end, where: isWanted, in: $0) }
    }

    package func removeArchived(of origin: MessageOrigin?, before moment: UnixMilliseconds, limit: Int) async throws -> Int {
        try await database.write { database in
            // The index of the subjects finds the few messages of one.
            let condition = origin == nil ? "" : "AND subject = ? AND topicKey = ? AND sender = ? AND distribution = ?"
            let originArguments: StatementArguments =
                origin.map { [$0.topic.subject, $0.topic, $0.sender, MessageOrigin.distribution.rawValue] } ?? []
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT position, msiKey, title, desc, message FROM message
                    WHERE position < ? AND nextAttempt IS NULL AND (ended IS NULL OR ended < ?) \(condition)
                    ORDER BY position LIMIT ?
                    """,
                arguments: [ArchivePosition.first(of: moment), moment] + originArguments + [limit])
            for row in rows {
                let position: Int64 = row["position"]
                try MessageText.remove(MessageText.words(of: row), at: position, in: database)
                try ReceiptTable.remove(row["msiKey"], in: database)
                try database.cachedStatement(sql: "DELETE FROM message WHERE position = ?").execute(arguments: [position])
            }
            guard origin == nil else { return rows.count }
            try database.execute(
                sql: """
                    DELETE FROM push WHERE rowid IN (
                        SELECT rowid FROM push
                        WHERE logged < ? AND nextAttempt IS NULL AND (ended IS NULL OR ended < ?) ORDER BY logged LIMIT ?)
                    """,
                arguments: [moment, moment, limit - rows.count])
            return rows.count + database.changesCount
        }
    }

    package func removeTraces() async throws { try await database.emptyLog() }

    package func check() async throws {
        _ = try await database.read { try Int64.fetchOne($0, sql: "SELECT position FROM message LIMIT 1") }
    }

    package func writeHealth() async -> PartHealth { await database.writeHealth() }

    package var storageHealth: PartHealth { database.storageHealth }

    package func size() async throws -> Int64 {
        try await sizes.value(at: database.revision) {
            let installations = try await database.read { try ReceiptInstallationTable.count(in: $0) }
            return max(0, try await database.size() - Int64(installations * ReceiptInstallationTable.bytesPerRow))
        }
    }

    package func diskSpace() async throws -> DiskSpace? {
        try database.diskSpace
    }
}

/// The columns of a correction.
private struct CorrectionRow: FetchableRecord, Decodable {
    let msiKey: ObjectID
    let timestamp: UnixMilliseconds
    let state: RelayState

    var correction: Correction { Correction(msiKey: msiKey, timestamp: timestamp, state: state) }
}
