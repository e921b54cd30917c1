import CommandBus
import JSON
import Schemas
import Storage

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
