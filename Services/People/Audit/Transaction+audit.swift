import AuditTrail
import Schemas
import Storage

extension Transaction {
    /// Appends entries to the audit log, except those that it contains already.
    ///
    /// - Throws: ``CommandFailure``.
    func appendAudit(_ entries: [AuditEntry]) throws {
        guard !entries.isEmpty else { return }
        let stored = try auditHead()
        let former = try end(of: stored)
        var known = try self.stored(entries.map(\.id), in: AuditStore.entryID, of: AuditStore.links)
        var head = former
        var links: [AuditLink] = []
        for entry in entries where known.insert(entry.id).inserted {
            let link = try AuditLink(entry, behind: head)
            links.append(link)
            head = AuditHead(number: link.id, hash: link.hash)
        }
        guard !links.isEmpty else { return }
        try insert(all: links, into: AuditStore.links)
        guard stored != nil else { return try overwrite(with: AuditHeadDocument(head), in: AuditStore.head) }
        try update(AuditHeadDocument.id, in: AuditStore.head) { ($0.number, $0.hash) = (head.number, head.hash) }
    }

    /// The newest entry as the log has counted it; `nil` if there is none, or if another program has damaged it.
    func auditHead() throws -> AuditHead? {
        let head = try get(AuditHeadDocument.id, from: AuditStore.head).map { AuditHead(number: $0.number, hash: $0.hash) }
        return head.flatMap { (0...AuditStore.maxNumber).contains($0.number) ? $0 : nil }
    }

    /// The place behind which the next entry belongs.
    ///
    /// If someone has removed or damaged the head, or inserted an entry or any other document, the log goes on behind everything
    /// that is in its way. Its verification finds out. An inserted document with a number near the maximum is not in the way:
    /// behind it there would be no numbers for further entries.
    private func end(of head: AuditHead?) throws -> AuditHead {
        let max = head.map { $0.number + AuditStore.maxGap } ?? AuditStore.maxNumber / 2
        let last = try greatestID(of: AuditStore.links, upTo: max) ?? 0
        if let head, head.number >= last { return head }
        let newest = try page(of: AuditStore.links, Query(order: .descending()), limit: 1).documents.first
        return AuditHead(number: last, hash: newest?.hash ?? head?.hash ?? AuditHead.empty.hash)
    }
}
