package import Base
package import Logging
package import Store
package import Schemas

/// The archive in MongoDB, with a document for each message, and the pushes, with a document for each push.
package struct MongoMessageStore: MessageStore {
    let database: MongoDatabase
    package let audit: AuditQueue
    private let inserts: GroupInsert
    private let pushInserts: GroupInsert
    private let settlements: GroupWrite<Settlement, Bool>
    private let pushSettlements: GroupWrite<Settlement, Bool>
    let unreadable: UnreadableDocuments
    private let unreadableItems: UnreadableItems
    private let duplicates: DuplicateMessages
    private let turns = KeyedLock<ObjectID>()
    /// Serialises inserts while there are duplicates.
    private let insertTurns = KeyedLock<Bool>()

    private static let name = "message-log"
    /// The form of all its collections. Form 1 was that of versions before 1.0.0, whose pushes have their recipients in another form.
    private static let formats = FormatVersions(written: 2, readable: 2...2)

    /// Connects. While the database is unreachable or has a form that this version does not know, every method throws, and the log says so.
    ///
    /// - Parameter unreadable: How pages treat documents that are no messages. Claims and retention ignore them.
    package init(url: MongoURL, unreadable: UnreadableDocument = .skipped, logger: Logger) async {
        self.unreadable = UnreadableDocuments(of: "message", unreadable, logger: logger)
        unreadableItems = UnreadableItems(
            messages: self.unreadable, pushes: UnreadableDocuments(of: "push", unreadable, logger: logger))
        let duplicates = DuplicateMessages(logger: logger)
        self.duplicates = duplicates
        database = await MongoDatabase.open(url, application: "msi-message-log", logger: logger) { connection in
            try connection.prepare(Self.name, Self.formats) {
                try MessageCollection.prepare(connection, duplicates)
                try PushCollection.prepare(connection)
                try ReceiptCollection.prepare(connection)
                try ReceiptInstallationCollection.prepare(connection)
                try ArchiveAudit.declaration.prepare(connection, logger: logger)
            }
        }
        audit = AuditQueue(of: Storage(ArchiveAudit.declaration, in: database, logger: logger)) { [database] in
            try await MongoError.asFailure { try await database.run { try $0.collectAudit() } }
        }
        inserts = GroupInsert(database: database, collection: MessageCollection.name)
        pushInserts = GroupInsert(database: database, collection: PushCollection.name)
        settlements = GroupWrite(database: database) { try $0.settle($1, in: .messages) }
        pushSettlements = GroupWrite(database: database) { try $0.settle($1, in: .pushes) }
    }

    /// Checks the number of the archive's form in a database. Changes nothing.
    ///
    /// - Throws: ``MongoError`` with code `unknownFormat` if this version does not know the form.
    package static func checkFormat(_ connection: MongoConnection) throws {
        try connection.checkFormat(formats, of: name)
    }

    package func close() async {
        await database.close()
    }

    package func insert(_ message: Message, audit: MessageAudit?) async throws -> Message? {
        try await MongoError.asFailure {
            guard duplicates.exist else { return try await insertUnique(message, audit) }
            // There is no unique index that would detect an existing message.
            return try await insertTurns.take(true) {
                if let known = try await known(as: message) { return known }
                return try await insertUnique(message, audit)
            }
        }
    }

    private func insertUnique(_ message: Message, _ audit: MessageAudit?) async throws -> Message? {
        do {
            // Messages are logged on the bus thread, which must not wait for the words of a long text.
            try await inserts.insert { try MessageDocument.new(message, audit: audit) }
            return nil
        } catch let error as MongoError where error.code == .duplicateKey {
            guard let known = try await known(as: message) else { throw error }
            return known
        }
    }

    package func message(_ msiKey: ObjectID) async throws -> Message? {
        try await findOne(["msi_key": msiKey.bson])
    }

    package func message(of sender: String, idempotencyKey: String) async throws -> Message? {
        try await findOne(["sender": sender.bson, "idempotency_key": idempotencyKey.bson])
    }

    package func page(
        _ filter: MessageFilter, before cursor: PageCursor?, limit: Int, checkStillWanted: @escaping @Sendable () throws -> Void
    ) async throws -> [Message] {
        guard filter.possibleTopics?.isEmpty != true else { return [] }
        return try await MongoError.asFailure {
            try await database.run { [unreadable] connection in
                // The call may have waited for a thread.
                try checkStillWanted()
                var messages: [Message] = []
                var position = 0
                while messages.count < limit {
                    let documents = try connection.page(filter, after: cursor, skipping: position, limit: limit)
                    messages += try unreadable.readable(of: documents) { try MessageDocument($0).message }
                    position += documents.count
                    // Omitted documents are replaced by further ones, because a page that is not full is the last one.
                    guard documents.count == limit else { break }
                }
                return Array(messages.prefix(limit))
            }
        }
    }

    package func followUps(of msiKeys: [ObjectID]) async throws -> [ObjectID: [FollowUp]] {
        try await MongoError.asFailure {
            try await database.run { try $0.followUps(of: msiKeys) }
        }
    }

    package func corrections(of msiKey: ObjectID) async throws -> [Correction] {
        try await MongoError.asFailure {
            try await database.run { [unreadable] connection in
                let documents = try connection.find(
                    ["follows": msiKey.bson, "correction": true], in: MessageCollection.name,
                    options: ["projection": ["msi_key": 1, "timestamp": 1, "relay.state": 1]])
                return try unreadable.readable(of: documents, as: Correction.init)
            }
        }
    }

    package func insert(_ push: Push) async throws -> Push? {
        try await MongoError.asFailure {
            do {
                try await pushInserts.insert { try PushDocument.new(push) }
                return nil
            } catch let error as MongoError where error.code == .duplicateKey {
                if let known = try await self.push(of: push.sender, idempotencyKey: push.idempotencyKey) { return known }
                guard let known = try await self.push(push.id) else { throw error }
                return known
            }
        }
    }

    package func push(_ id: ObjectID) async throws -> Push? {
        try await findPush(["_id": id.bson])
    }

    package func push(of sender: String, idempotencyKey: String) async throws -> Push? {
        try await findPush(["sender": sender.bson, "idempotency_key": idempotencyKey.bson])
    }

    package func pushes(of sender: String, keyPrefix: String, after last: String?, limit: Int) async throws -> [Push] {
        let keys: BSONValue = ["$gt": (last ?? keyPrefix).bson, "$lt": Self.end(ofKeys: keyPrefix).bson]
        return try await pushes(["sender": sender.bson, "idempotency_key": keys], sortedBy: "idempotency_key", limit: limit)
    }

    package func pushes(after last: ObjectID?, limit: Int) async throws -> [Push] {
        try await pushes(last.map { ["_id": ["$gt": $0.bson]] } ?? [:], sortedBy: "_id", limit: limit)
    }

    package func claim(_ claim: Claim, lease: Lease, now: UnixMilliseconds) async throws -> [OutboxItem] {
        let leased: LeasedItems = try await MongoError.asFailure {
            let leased = try await database.run { [unreadableItems] in
                try $0.claim(claim, lease: lease, now: now, unreadable: unreadableItems)
            }
            guard duplicates.exist else { return leased }
            let items = try await database.run { [unreadableItems] in
                try $0.withoutDuplicates(leased.items, of: claim.queue, lease: lease, now: now, unreadableItems)
            }
            return LeasedItems(items: items, failure: leased.failure)
        }
        guard let failure = leased.failure else { return leased.items }
        throw PartialClaim(items: leased.items, cause: (failure as? MongoError)?.failure ?? failure)
    }

    @discardableResult
    package func update(
        _ msiKey: ObjectID, audit: MessageAudit?, _ change: @escaping @Sendable (inout RelayRecord, Message) throws -> Void
    ) async throws -> Message? {
        try await changeDocument(msiKey) { try $0.update(msiKey, audit: audit, change) }
    }

    @discardableResult
    package func edit(
        _ msiKey: ObjectID, audit: MessageAudit?, _ change: @escaping @Sendable (inout Message) throws -> Void
    ) async throws -> Message? {
        try await changeDocument(msiKey) { try $0.edit(msiKey, audit: audit, change) }
    }

    @discardableResult
    package func update(
        push id: ObjectID, _ change: @escaping @Sendable (inout PushRecord, Push) throws -> Void
    ) async throws -> Push? {
        try await changeDocument(id) { try $0.update(push: id, change) }
    }

    package func settle(_ key: OutboxKey, leased lease: Lease, _ record: any DeliveryRecord) async throws -> Bool {
        try await MongoError.asFailure {
            switch (key, record) {
            case (.message(let msiKey), let record as RelayRecord):
                var settlement = Settlement(msiKey, leased: lease, record)
                if duplicates.exist {
                    // A claim has given the same lease to all documents with this key.
                    let original = try await database.run { try $0.message(["msi_key": msiKey.bson])?.message.id }
                    guard let original else { return false }
                    settlement.document = original
                }
                return try await settlements.write(settlement)
            case (.push(let id), let record as PushRecord):
                return try await pushSettlements.write(Settlement(id, leased: lease, record))
            default:
                preconditionFailure("the record of a message is a RelayRecord, and that of a push a PushRecord")
            }
        }
    }

    /// Changes a document, one change at a time in this process. Repeats the change if another process was faster.
    private func changeDocument<Document: Sendable>(
        _ id: ObjectID, _ update: @escaping @Sendable (MongoConnection) throws -> RecordUpdate<Document>
    ) async throws -> Document? {
        try await MongoError.asFailure {
            try await turns.take(id) {
                var backoff = Backoff.contention()
                while true {
                    switch try await database.run(update) {
                    case .done(let document): return document
                    case .notFound: return nil
                    case .overtaken:
                        guard let pause = backoff.nextPause() else {
                            throw MongoError(.transactionFailed, "\(id) is changed by too many at once")
                        }
                        try await Task.sleep(for: pause)
                    }
                }
            }
        }
    }

    package func releaseLeases(of owner: String, now: UnixMilliseconds) async throws {
        try await MongoError.asFailure {
            try await database.run { try $0.releaseLeases(of: owner, now: now) }
        }
    }

    package func expired(by now: UnixMilliseconds, limit: Int) async throws -> [OutboxKey] {
        try await MongoError.asFailure {
            try await database.run { try $0.expired(by: now, limit: limit) }
        }
    }

    package func waiting(
        after now: UnixMilliseconds, until end: UnixMilliseconds, where isWanted: @escaping @Sendable (OutboxItem) -> Bool
    ) async throws -> [OutboxKey] {
        try await MongoError.asFailure {
            try await database.run { try $0.waiting(after: now, until: end, where: isWanted) }
        }
    }

    package func removeArchived(of origin: MessageOrigin?, before moment: UnixMilliseconds, limit: Int) async throws -> Int {
        try await MongoError.asFailure {
            try await database.run { try $0.removeArchived(of: origin, before: moment, limit: limit) }
        }
    }

    package func removeBlocks(endedBefore moment: UnixMilliseconds, limit: Int) async throws -> Int {
        try await MongoError.asFailure {
            try await database.run { try $0.removeBlocks(endedBefore: moment, limit: limit) }
        }
    }

    package func removeTraces() async throws {}

    package func check() async throws {
        try await MongoError.asFailure {
            try await database.run { try $0.ping() }
        }
    }

    package func writeHealth() async -> PartHealth { await database.writeHealth() }

    /// The used size of the server's files. The figures lag by up to a minute.
    package func size() async throws -> Int64 {
        try await MongoError.asFailure {
            try await database.run { connection in
                let sizes = try BSONFields(connection.read(["dbStats": 1, "freeStorage": 1]))
                let used = try sizes.value("storageSize", as: Int64.self) + sizes.value("indexSize", as: Int64.self)
                // Not every server reports them.
                let free = try ["freeStorageSize", "indexFreeStorageSize"].map { try sizes.optional($0, as: Int64.self) ?? 0 }
                return max(0, try used - free.reduce(0, +) - ReceiptInstallationCollection.size(connection))
            }
        }
    }

    /// The disk of the server's files.
    package func diskSpace() async throws -> DiskSpace? {
        try await MongoError.asFailure {
            try await database.run { connection in
                try connection.diskRoom().map { DiskSpace(free: $0.free, total: $0.total) }
            }
        }
    }

    /// The existing message with the same keys.
    private func known(as message: Message) async throws -> Message? {
        if let known = try await self.message(message.msiKey) { return known }
        guard let key = message.idempotencyKey else { return nil }
        return try await self.message(of: message.sender, idempotencyKey: key)
    }

    private func findPush(_ filter: BSONDocument) async throws -> Push? {
        try await MongoError.asFailure {
            try await database.run { try $0.push(filter)?.push }
        }
    }

    private func pushes(_ filter: BSONDocument, sortedBy field: String, limit: Int) async throws -> [Push] {
        try await MongoError.asFailure {
            try await database.run { [unreadableItems] connection in
                let documents = try connection.find(
                    filter, in: PushCollection.name, options: ["sort": [field: 1], "limit": .int64(Int64(limit))])
                return try unreadableItems.pushes.readable(of: documents) { try PushDocument($0).push }
            }
        }
    }

    private func findOne(_ filter: BSONDocument) async throws -> Message? {
        try await MongoError.asFailure {
            try await database.run { try $0.message(filter)?.message }
        }
    }
}

extension Correction {
    fileprivate init(_ document: BSONDocument) throws {
        let fields = try BSONFields(document)
        self.init(
            msiKey: try fields.value("msi_key"), timestamp: try fields.value("timestamp"),
            state: try fields.fields("relay").value("state"))
    }
}
