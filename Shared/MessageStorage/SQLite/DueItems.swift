import EmbeddedDatabase
import GRDB
import Schemas
import UnreadableDocuments

/// Finds the outbox's due items by its indexes. The cost depends on the number of keys with outstanding items, and not on the
/// number of items.
struct DueItems: Sendable {
    let messages: UnreadableDocuments
    let pushes: UnreadableDocuments

    /// The keys with due items, the longest waiting first.
    func keys(_ urgency: Urgency, now: UnixMilliseconds, in database: Database) throws -> [FairnessKey] {
        let topics = try OutboxTable.messages.dueKeys(urgency, now: now, in: database)
        let readable = try messages.readable(of: topics, named: { UnreadableDocuments.name($0.key) }) { stored in
            guard let topic = TopicKey.fromDatabaseValue(stored.key) else {
                throw UnreadableRow(description: "it is no topic key")
            }
            return (key: FairnessKey.topic(topic), due: stored.due)
        }
        let named = try OutboxTable.pushes.dueKeys(urgency, now: now, in: database).map { stored in
            (key: FairnessKey.named(String.fromDatabaseValue(stored.key) ?? ""), due: stored.due)
        }
        return (readable + named).sorted { $0.due < $1.due }.map(\.key)
    }

    /// Leases the due items of one key, the longest waiting first.
    ///
    /// - Returns: The readable items with the lease, and the number of leased rows.
    func lease(
        _ urgency: Urgency, of key: FairnessKey, for lease: Lease, now: UnixMilliseconds, limit: Int, in database: Database
    ) throws -> (items: [OutboxItem], count: Int) {
        let (table, value) = OutboxTable.of(key)
        let rows = try table.lease(urgency, of: value, for: lease, now: now, limit: limit, in: database)
        let items: [OutboxItem] =
            switch key {
            case .topic: try messages.messages(of: rows).map(OutboxItem.message)
            case .named: try pushes.pushes(of: rows).map(OutboxItem.push)
            }
        return (items, rows.count)
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

    /// Items whose next attempt is in the future and that satisfy a condition. An unreadable row is not part of the outbox.
    static func waiting(
        after now: UnixMilliseconds, where isWanted: (OutboxItem) -> Bool, in database: Database
    ) throws -> [OutboxKey] {
        var found: [OutboxKey] = []
        let messages = try OutboxTable.messages.waiting(after: now, in: database)
        while let row = try messages.next() {
            guard let message = try? MessageRow(row: row).document else { continue }
            if isWanted(.message(message)) { found.append(.message(message.msiKey)) }
        }
        let pushes = try OutboxTable.pushes.waiting(after: now, in: database)
        while let row = try pushes.next() {
            guard let push = try? PushRow(row: row).document else { continue }
            if isWanted(.push(push)) { found.append(.push(push.id)) }
        }
        return found
    }
}
