import Base
package import GRDB
package import Logging
package import Schemas

/// The entries of a store that the audit log has not acknowledged: one queue for each store, the same on both databases.
///
/// Declare the store as audited, record each change in its transaction, and forward the queue:
///
///     static let store = StoreDeclaration("notices", all, audited: true)
///
///     try await store.transaction { transaction in
///         let deleted = try transaction.delete(id, from: Notices.all)
///         try transaction.record(AuditEntry(by: context.author, action: "notice.delete", …))
///     }
///
///     let audit = AuditForwarder(of: AuditQueue(of: store), to: people, logger: logger)  // a service, and a part of the health
///
/// An entry is committed with its change, survives the end of the process, and stays until the audit log has acknowledged it. It
/// may be sent twice, even by two instances of a service; the audit log knows it by its id. Entries are sent in the order of their ids.
/// `msi migrate` and `msi backup` copy the queue with the other collections.
package struct AuditQueue: AuditSource {
    private let collections: AuditCollections
    private let store: Storage
    /// Moves entries into the queue that were stored elsewhere in the same write as their change.
    package let collect: @Sendable () async throws -> Void
    /// Whether there is none.
    private let isEmpty = RepeatedRead<Bool>()

    /// The queue of an audited store.
    ///
    /// - Parameter collect: As ``collect``.
    package init(of store: Storage, collect: @escaping @Sendable () async throws -> Void = {}) {
        collections = store.auditCollections
        self.store = store
        self.collect = collect
    }

    /// The oldest entries that the audit log has neither acknowledged nor refused.
    package func pendingAudit(limit: Int) async throws -> [PendingAuditEntry] {
        try await collect()
        // It is read once a second, and mostly there is nothing.
        let revision = store.revision
        if let revision, isEmpty.value(at: revision) == true { return [] }
        let entries = try await store.page(of: collections.pending, limit: limit).documents.map(\.document)
        if let revision { isEmpty.keep(entries.isEmpty, at: revision) }
        return entries
    }

    /// Removes entries that the audit log contains. Another instance may have removed some of them.
    package func acknowledgeAudit(_ entries: [PendingAuditEntry]) async throws {
        try await store.delete(entries.map(\.id), from: collections.pending)
    }

    /// Sets an entry aside that the audit log refuses. ``pendingAudit(limit:)`` leaves it out from then on.
    package func refuseAudit(_ entry: PendingAuditEntry) async throws {
        try await store.transaction { [collections] transaction in
            try transaction.overwrite(with: entry, in: collections.refused)
            try transaction.delete([entry.id], from: collections.pending)
        }
    }

    package func auditBacklog() async throws -> AuditBacklog {
        try await store.snapshot { [collections] transaction in
            AuditBacklog(
                count: try transaction.count(collections.pending, upTo: AuditBacklog.maxCounted),
                oldest: try transaction.page(of: collections.pending, limit: 1).documents.first?.document.id.created,
                refused: try transaction.count(collections.refused, upTo: AuditBacklog.maxCounted))
        }
    }
}

extension Transaction {
    /// Whether the store is declared as audited.
    package var isAudited: Bool { audit != nil }

    /// Adds entries to the store's ``AuditQueue``. The store must be declared as audited.
    package func record(_ entries: [AuditEntry]) throws {
        guard let audit else { preconditionFailure("the store is not declared as audited") }
        try insert(all: entries.map { try PendingAuditEntry($0) }, into: audit.pending)
    }

    /// Adds an entry to the store's ``AuditQueue``. The store must be declared as audited.
    package func record(_ entry: AuditEntry) throws { try record([entry]) }
}

extension PendingAuditEntry: StoredDocument {
    package enum CodingKeys: String, CodingKey {
        case id = "_id"
        case json = "entry"
    }

    package init(_ entry: AuditEntry) throws {
        self.init(id: entry.id, json: String(decoding: try JSONCoder.encode(entry), as: UTF8.self))
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        // A damaged document must be found as well: the audit log gets a substitute for it.
        self.init(
            id: try container.decode(ObjectID.self, forKey: .id),
            json: (try? container.decode(String.self, forKey: .json)) ?? "")
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(json, forKey: .json)
    }
}

/// The collections of a store's pending entries. `StoreDeclaration(…, audited: true)` has them.
struct AuditCollections: Sendable {
    /// `NAME_audit`: the entries that wait, the oldest first.
    let pending: Collection<PendingAuditEntry>
    /// `NAME_audit_refused`: the entries that the audit log has refused. An operator removes them.
    let refused: Collection<PendingAuditEntry>
    /// SQLite's statement that adds an entry to ``pending``.
    let insertSQL: String

    init(of store: String) {
        pending = Self.collection(Self.name(of: store))
        insertSQL = Self.insertSQL(Self.name(of: store))
        refused = Self.collection(Self.name(of: store) + "_refused")
    }

    /// Whether a collection of a store is one of these.
    static func contain(_ collection: String, of store: String) -> Bool {
        [name(of: store), name(of: store) + "_refused"].contains(collection)
    }

    private static func name(of store: String) -> String { store.replacing("-", with: "_") + "_audit" }

    private static func collection(_ name: String) -> Collection<PendingAuditEntry> {
        // A deletion must not fail because its entry has no room.
        Collection(name, reserve: .everything)
    }
}

/// Collections in the database of another store, such as the audit queue of the archive. That store opens the database, prepares the
/// collections in it, and closes it; the ``Storage`` is never closed.
extension Storage {
    package convenience init(_ declaration: StoreDeclaration, in database: EmbeddedDatabase, logger: Logger) {
        self.init(declaration, SQLiteBackend(database), nil, declaration.unreadable(logger), { .now }, logger)
    }

    package convenience init(_ declaration: StoreDeclaration, in database: MongoDatabase, logger: Logger) {
        self.init(declaration, MongoBackend(database, logger: logger), nil, declaration.unreadable(logger), { .now }, logger)
    }
}

extension StoreDeclaration {
    /// Makes the tables of the collections, and brings present ones in line with the declaration. The other store calls it each time when
    /// it opens its file.
    package func prepare(_ database: Database, logger: Logger) throws {
        let upgrade = SchemaUpgrade(store: name, unreadable: unreadable(logger))
        try CollectionTables.prepare(self, in: database) { try upgrade.run($0, in: $1) }
    }

    /// Makes the collections in MongoDB.
    package func prepare(_ connection: MongoConnection, logger: Logger) throws {
        let upgrade = SchemaUpgrade(store: name, unreadable: unreadable(logger))
        try MongoBackend.prepare(self, upgrade, connection, logger: logger)
    }

    /// Adds entries to the queue that were stored elsewhere in the same write as their change. Those that are in the queue already
    /// change nothing.
    package func record(_ entries: [PendingAuditEntry], on connection: MongoConnection) throws {
        guard !entries.isEmpty else { return }
        let documents = entries.map { entry in
            BSONDocument([
                (Envelope.identifier, entry.id.bson), (PendingAuditEntry.CodingKeys.json.rawValue, .string(entry.json)),
                (Envelope.revision, Revision.none.next.bson),
            ])
        }
        let errors = try connection.insert(documents, into: auditName)
        if let error = errors.lazy.compactMap(\.self).first(where: { $0.code != .duplicateKey }) { throw error }
    }

    private var auditName: String {
        guard let audit else { preconditionFailure("the store \(name) is not audited") }
        return audit.pending.name
    }
}
