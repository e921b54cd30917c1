import AuditTrail
import Logging
import Schemas
import ServiceKit
import ServiceLifecycle
import Store
import Base

extension AuditLink: StoredDocument {}

/// The collections of the audit log. Nothing in the product changes or removes an entry.
enum AuditStore {
    static let entryID = Field("entry_id", \AuditLink.entryID)
    static let at = Field("at", \AuditLink.at)
    static let actor = Field("actor", \AuditLink.actor)
    static let action = Field("action", \AuditLink.action)
    static let object = Field("object", \AuditLink.object)

    static let links = Collection<AuditLink>(
        "audit", indexes: [.unique(entryID), .on(at), .on(actor, at), .on(action, at), .on(object, at)], reserve: .everything)
    static let head = Collection<AuditHeadDocument>("audit_head", reserve: .everything)

    /// The maximum number of an entry. Only another program stores greater ones.
    static let maxNumber: Int64 = 1 << 53

    /// How far ahead of the newest entry a document of another program can be in the way of new entries. The log never gets that
    /// far by itself.
    static let maxGap: Int64 = 1 << 32
}

/// The only document of `audit_head`: the number and the hash of the newest entry. Each append changes it, so that two instances
/// cannot append the same number.
struct AuditHeadDocument: StoredDocument {
    static let id = "head"

    let id: String
    var number: Int64
    var hash: String

    init(_ head: AuditHead) {
        id = Self.id
        number = head.number
        hash = head.hash
    }

    private enum CodingKeys: String, CodingKey {
        case id = "_id"
        case number, hash
    }
}

extension Transaction {
    /// Appends entries to the audit log, except those that it contains already.
    ///
    /// - Throws: ``CommandFailure``.
    func appendAudit(_ entries: [AuditEntry]) throws {
        try appendAudit(entries.map { try WrittenAuditEntry($0) })
    }

    /// Appends entries to the audit log, except those that it contains already.
    ///
    /// - Throws: ``CommandFailure``.
    func appendAudit(_ entries: [WrittenAuditEntry]) throws {
        guard !entries.isEmpty else { return }
        let stored = try auditHead()
        let start = try end(of: stored)
        var known = try self.stored(entries.map(\.id), in: AuditStore.entryID, of: AuditStore.links)
        var head = start
        var links: [AuditLink] = []
        for entry in entries where known.insert(entry.id).inserted {
            let link = AuditLink(entry, behind: head)
            links.append(link)
            head = AuditHead(number: link.id, hash: link.hash)
        }
        guard !links.isEmpty else { return }
        try insert(all: links, into: AuditStore.links)
        guard stored != nil else { return try overwrite(with: AuditHeadDocument(head), in: AuditStore.head) }
        try update(AuditHeadDocument.id, in: AuditStore.head) { ($0.number, $0.hash) = (head.number, head.hash) }
    }

    /// The number and hash of the newest entry; `nil` if there is none, or if another program has damaged it.
    func auditHead() throws -> AuditHead? {
        let head = try get(AuditHeadDocument.id, from: AuditStore.head).map { AuditHead(number: $0.number, hash: $0.hash) }
        return head.flatMap { (0...AuditStore.maxNumber).contains($0.number) ? $0 : nil }
    }

    /// The place behind which the next entry belongs.
    ///
    /// If someone has removed or damaged the head, or inserted an entry or any other document, new entries come behind everything
    /// that is in the way. Its verification finds out. An inserted document with a number near the maximum is not in the way:
    /// behind it there would be no numbers for further entries.
    private func end(of head: AuditHead?) throws -> AuditHead {
        let max = head.map { $0.number + AuditStore.maxGap } ?? AuditStore.maxNumber / 2
        let last = try greatestID(of: AuditStore.links, upTo: max) ?? 0
        if let head, head.number >= last { return head }
        let newest = try page(of: AuditStore.links, Query(order: .descending()), limit: 1).documents.first
        return AuditHead(number: last, hash: newest?.hash ?? head?.hash ?? AuditHead.empty.hash)
    }
}

/// Writes the number and the hash of the newest entry into the service's log and into a file, at the start and every hour. Both are
/// outside the database, so that `msi audit verify` detects that the whole chain was recomputed.
struct AuditHeadLog: Service {
    let store: Storage
    let file: AuditHeadFile
    let logger: Logger
    var period = Duration.seconds(3_600)

    private static let pauseAfterFailure = Duration.seconds(5)

    func run() async throws {
        let outage = OutageLog("the audit log cannot be read", logger: logger) { $0 is CommandFailure }
        await RepeatingService(every: period, retries: .constant(Self.pauseAfterFailure), outage: outage) {
            let head = try await store.snapshot { try $0.auditHead() ?? .empty }
            logger.notice("the newest entry of the audit log", metadata: ["hash": "\(head.number):\(head.hash)"])
            do throws(AuditHeadFile.Failed) {
                try file.append(head)
            } catch {
                logger.error("the newest entry of the audit log is only in this log", metadata: ["error": "\(error)"])
            }
        }.run()
    }
}
