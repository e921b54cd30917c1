import Logging
import MongoDatabase
import Schemas
import UnreadableDocuments

/// Upgrades all documents of a collection when the store is opened, so that indexes cover them by the current fields.
struct SchemaUpgrade {
    private static let batch = 200

    let store: String
    let unreadable: @Sendable (String) -> UnreadableDocuments

    /// Can be interrupted and run again. Leaves a document unchanged if an upgrade throws.
    func run(_ collection: CollectionForm, in session: some DocumentSession) throws {
        if let schema = try StoreRegister.schema(of: collection.name, in: session), schema >= collection.schema { return }
        if collection.schema > 1 {
            var last: BSONValue?
            while case let page = try session.scan(collection.name, after: last, limit: Self.batch), let end = page.last {
                last = end
                // Only a stored document can be unreadable. An error of the database ends the upgrade, which is run again later.
                let upgrades = try unreadable(collection.name).readable(of: page.documents) { stored in
                    try upgraded(stored, of: collection, in: session).map { (stored, $0) }
                }
                for case let (stored, fields)? in upgrades { try replace(stored, by: fields, of: collection, in: session) }
            }
        }
        try StoreRegister.note(collection, of: store, in: session)
    }

    /// - Returns: `nil` if the document has the current schema.
    private func upgraded(
        _ stored: BSONDocument, of collection: CollectionForm, in session: some DocumentSession
    ) throws -> StoredFields? {
        guard try Envelope.schema(of: stored) < collection.schema else { return nil }
        let transaction = Transaction(session: session, unreadable: unreadable, now: 0)
        var fields = try StoredFields(try transaction.upgraded(stored, of: collection))
        fields[Envelope.revision] = (try Envelope.revision(of: stored) ?? .none).next.bson
        return fields
    }

    private func replace(
        _ stored: BSONDocument, by fields: StoredFields, of collection: CollectionForm, in session: some DocumentSession
    ) throws {
        do {
            try session.replace(stored, by: fields.document, fields[Envelope.identifier] ?? .null, in: collection)
        } catch is Overtaken {
            // Another instance has upgraded, changed or removed it. Reads upgrade as well.
        }
    }
}
