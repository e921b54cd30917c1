import Store
import GRDB
import Schemas

/// Finds the outbox's due items by its indexes, and reads them.
struct DueItems: Sendable {
    /// A leased row. It is decoded after the claim, so that the single writer does only the database's work.
    enum LeasedRow: Sendable {
        case message(MessageRow)
        case push(PushRow)
    }

    /// The maximum number of the pushes' keys that are searched one by one.
    private static let maxKeys = 1_000

    let messages: UnreadableDocuments
    let pushes: UnreadableDocuments

    /// The keys with due items and with room, the longest waiting first: all of them, or as many as there is room for
    /// items in the claim.
    func keys(_ claim: Claim, now: UnixMilliseconds, in database: Database) throws -> [FairnessKey] {
        let topics = try claim.queue.messages?.dueKeys(claim.urgency, now: now, in: database) ?? []
        let readable = try messages.readable(of: topics, named: { UnreadableDocuments.name($0.key) }) { stored in
            guard let topic = TopicKey.fromDatabaseValue(stored.key) else {
                throw UnreadableRow(description: "it is no topic key")
            }
            return (key: FairnessKey.topic(topic), due: stored.due)
        }
        let named = try claim.queue.pushes.map { try pushKeys(claim, of: $0, now: now, in: database) } ?? []
        let ofPushes = named.map { (key: Self.named($0.key), due: $0.due) }
        return (readable + ofPushes).sorted { $0.due < $1.due }.map(\.key).filter { claim.room(for: $0) > 0 }
    }

    /// Combines two searches, because neither is always fast. The search by key is slow if there are many keys without due pushes,
    /// such as one for each phone. The search by time is slow if one key has many due pushes.
    private func pushKeys(
        _ claim: Claim, of table: OutboxTable, now: UnixMilliseconds, in database: Database
    ) throws -> [DueKey] {
        func byTime(pages: Int) throws -> [DueKey]? {
            try table.dueKeys(claim.urgency, now: now, enough: claim.limit, pages: pages, in: database) {
                claim.room(for: Self.named($0)) > 0
            }
        }
        return try byTime(pages: 1)
            ?? table.dueKeys(claim.urgency, now: now, among: Self.maxKeys, in: database)
            ?? byTime(pages: .max) ?? []
    }

    private static func named(_ key: DatabaseValue) -> FairnessKey {
        .named(String.fromDatabaseValue(key) ?? "")
    }

    /// Leases the due items of one key, the longest waiting first.
    func lease(
        _ claim: Claim, of key: FairnessKey, for lease: Lease, now: UnixMilliseconds, limit: Int, in database: Database
    ) throws -> [LeasedRow] {
        let (table, value) = OutboxTable.of(key, in: claim.queue)
        switch key {
        case .topic:
            let rows: [MessageRow] = try table.lease(claim.urgency, of: value, for: lease, now: now, limit: limit, in: database)
            return rows.map(LeasedRow.message)
        case .named:
            let rows: [PushRow] = try table.lease(claim.urgency, of: value, for: lease, now: now, limit: limit, in: database)
            return rows.map(LeasedRow.push)
        }
    }

    /// The readable items of leased rows. An unreadable one does not block the others while its lease lasts.
    func items(of rows: [LeasedRow]) throws -> [OutboxItem] {
        try rows.compactMap { row in
            switch row {
            case .message(let row): try messages.documents(of: [row]).first.map(OutboxItem.message)
            case .push(let row): try pushes.documents(of: [row]).first.map(OutboxItem.push)
            }
        }
    }

    /// When the first of a queue's outstanding items becomes due; never if there is none.
    static func nextDue(of queue: OutboxQueue, in database: Database) throws -> UnixMilliseconds {
        let moments = try Urgency.allCases.flatMap { urgency in
            // There are few topics. There may be as many keys of pushes as phones.
            [
                try queue.messages?.nextDueByKey(urgency, in: database), try queue.pushes?.nextDueByTime(urgency, in: database),
            ]
        }
        return moments.compactMap(\.self).min() ?? .max
    }

    /// When the first of all outstanding items expires; never if there is none.
    static func nextExpiry(in database: Database) throws -> UnixMilliseconds {
        try OutboxTable.all.map { try $0.nextExpiry(in: database) ?? .max }.min() ?? .max
    }

    /// Expired items that are not leased, in the order of their expiry.
    static func expired(by now: UnixMilliseconds, limit: Int, in database: Database) throws -> [OutboxKey] {
        let messages = try OutboxTable.messages.expired(by: now, limit: limit, in: database)
        let pushes = try OutboxTable.pushes.expired(by: now, limit: limit, in: database)
        let all =
            messages.map { (key: OutboxKey.message($0.key), expires: $0.expires) }
            + pushes.map { (key: OutboxKey.push($0.key), expires: $0.expires) }
        return all.sorted { $0.expires < $1.expires }.prefix(limit).map(\.key)
    }

    /// Items that satisfy a condition and whose next attempt is between two times. An unreadable row is not part of the outbox.
    static func waiting(
        after now: UnixMilliseconds, until end: UnixMilliseconds, where isWanted: (OutboxItem) -> Bool, in database: Database
    ) throws -> [OutboxKey] {
        var found: [OutboxKey] = []
        // One that waits for both transports is found twice.
        var known: Set<OutboxKey> = []
        for table in [OutboxTable.messages, .fanOuts] {
            let messages = try table.waiting(after: now, until: end, in: database)
            while let row = try messages.next() {
                guard let message = try? MessageRow(row).document, known.insert(.message(message.msiKey)).inserted else {
                    continue
                }
                if isWanted(.message(message)) { found.append(.message(message.msiKey)) }
            }
        }
        for table in [OutboxTable.pushes, .blocks] {
            let pushes = try table.waiting(after: now, until: end, in: database)
            while let row = try pushes.next() {
                guard let push = try? PushRow(row).document, known.insert(.push(push.id)).inserted else { continue }
                if isWanted(.push(push)) { found.append(.push(push.id)) }
            }
        }
        return found
    }
}

extension OutboxQueue {
    /// The table of its messages.
    fileprivate var messages: OutboxTable? {
        switch self {
        case .fcm: .messages
        case .fanOuts: .fanOuts
        case .blocks: nil
        }
    }

    /// The table of its pushes.
    fileprivate var pushes: OutboxTable? {
        switch self {
        case .fcm: .pushes
        case .fanOuts: nil
        case .blocks: .blocks
        }
    }
}

extension UnreadableDocuments {
    /// The documents of the rows, in order. Those that cannot be decoded are left out and logged with their key.
    func documents<Row: OutboxRow>(of rows: [Row]) throws -> [Row.Document] {
        try readable(of: rows, named: \.name) { try $0.document }
    }

    /// The messages of rows of statements that list all columns.
    func messages(of rows: [Row]) throws -> [Message] {
        try documents(of: rows.map { MessageRow($0) })
    }
}
