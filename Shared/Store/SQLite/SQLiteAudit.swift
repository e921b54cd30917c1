import Base
package import GRDB
package import Schemas

// Insertions into the audit queue in SQLite without the layer of collections: a message has an entry, and the layer would cost more than
// the message.

/// An insertion of an entry into the ``AuditQueue`` of a store, in the transaction of another store's change. It is encoded in advance,
/// so that the single writer does only the database's work.
package struct AuditInsertion: Sendable {
    private let sql: String
    private let arguments: StatementArguments

    fileprivate init(_ entry: PendingAuditEntry, into queue: AuditCollections) {
        sql = queue.insertSQL
        var json = JSONBytes(capacity: 2_048)
        json.append("{")
        json.append(text: Envelope.identifier)
        json.append(#":{"$oid":"#)
        json.append(text: entry.id.description)
        json.append("},")
        json.append(text: PendingAuditEntry.CodingKeys.json.rawValue)
        json.append(":")
        json.append(text: entry.json)
        json.append(",")
        json.append(text: Envelope.revision)
        json.append(":")
        json.append(integer: Revision.none.next.rawValue)
        json.append("}")
        arguments = [entry.id.description, String(decoding: json.data(), as: UTF8.self)]
    }

    /// An entry with the same id stays.
    package func run(in database: Database) throws {
        try database.cachedStatement(sql: sql).execute(arguments: arguments)
    }
}

extension StoreDeclaration {
    /// The insertion of an entry into the store's queue.
    package func insertion(of entry: PendingAuditEntry) -> AuditInsertion {
        guard let audit else { preconditionFailure("the store \(name) is not audited") }
        return AuditInsertion(entry, into: audit)
    }
}

extension AuditCollections {
    static func insertSQL(_ table: String) -> String {
        "INSERT OR IGNORE INTO \(table.quotedDatabaseIdentifier) (id, document) VALUES (?, ?)"
    }
}
