import AuditTrail
import Bus
import Base
import Schemas
import Store

extension CommandRouter {
    /// The commands of the audit log.
    mutating func serveAudit(_ store: Storage) {
        on(AddAuditEntries.self) { command, _ in
            try await store.transaction { try $0.appendAudit(command.entries) }
            return Done()
        }
        on(ListAuditEntries.self) { command, _ in
            let cursor = try Cursor(after: command.after)
            let search = AuditSearch(command.filter)
            return try await ListAuditEntries.page(limit: command.limit) { limit in
                try await search.page(after: cursor, limit: limit, in: store)
            }
        }
        on(ReadAuditChain.self) { command, _ in
            let cursor = try Cursor(after: command.after)
            return try await ReadAuditChain.page(limit: command.limit) { limit in
                try await store.snapshot { transaction in
                    let part = try transaction.scan(AuditStore.links, after: cursor, limit: limit)
                    return ReadAuditChain.Reply(
                        links: part.documents.map(\.document), unreadable: part.unreadable, next: part.next?.description,
                        head: try transaction.auditHead() ?? .empty)
                }
            }
        }
    }
}

extension Command {
    /// Reads a page that fits into one reply: an entry of the audit log may be as long as many others.
    fileprivate static func page(limit: Int64, _ read: (Int) async throws -> Reply) async throws -> Reply {
        var limit = Int(limit)
        while true {
            let reply = try await read(limit)
            if try payload(of: reply).count <= maxPageBytes || limit == 1 { return reply }
            limit = max(1, limit / 8)
        }
    }

    /// A reply may have 16 MiB.
    private static var maxPageBytes: Int { 8 << 20 }
}

/// A search in the audit log, the latest change first.
struct AuditSearch {
    private let filter: AuditFilter
    private let query: Query<AuditLink>

    /// How long a page is filled, so that the answer comes in time also for a filter that hardly anything matches.
    private static let maxTime = Duration.seconds(1)

    init(_ filter: AuditFilter?) {
        var filter = filter ?? AuditFilter()
        // As in the fields for searches.
        filter.account = filter.account?.lowercased()
        filter.object = filter.object?.lowercased()
        self.filter = filter
        query = Self.query(filter)
    }

    /// The query for the condition that fewest entries meet. The others are compared afterwards.
    private static func query(_ filter: AuditFilter) -> Query<AuditLink> {
        let from = AuditStore.at >= (filter.from ?? 0)
        let to = AuditStore.at < (filter.to ?? UnixMilliseconds(rawValue: .max))
        let order = Order.descending(AuditStore.at)
        if let object = filter.object { return Query(where: AuditStore.object == object, from, to, order: order) }
        if let account = filter.account { return Query(where: AuditStore.actor == account, from, to, order: order) }
        if let action = filter.action { return Query(where: AuditStore.action == action, from, to, order: order) }
        return Query(where: from, to, order: order)
    }

    /// - Throws: ``CommandFailure``.
    func page(after cursor: Cursor?, limit: Int, in store: Storage) async throws -> ListAuditEntries.Reply {
        try await store.snapshot { transaction in
            let start = ContinuousClock.now
            var entries: [NumberedAuditEntry] = []
            var place = cursor
            repeat {
                let page = try transaction.page(of: AuditStore.links, query, after: place, limit: limit - entries.count)
                entries += page.documents.compactMap { entry($0.document) }
                place = page.next
            } while place != nil && entries.count < limit && ContinuousClock.now - start < Self.maxTime
            return ListAuditEntries.Reply(entries: entries, next: place?.description)
        }
    }

    /// The entry of a link, if it meets the conditions.
    private func entry(_ link: AuditLink) -> NumberedAuditEntry? {
        guard filter.account.map({ $0 == link.actor }) ?? true, filter.action.map({ $0 == link.action }) ?? true,
            let entry = link.content
        else { return nil }
        return NumberedAuditEntry(number: link.id, hash: link.hash, entry: entry)
    }
}
