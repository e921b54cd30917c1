import FoundationEssentials
import MongoDatabase
import Schemas

/// Changes documents in SQLite files that no service uses, such as those of a backup.
package enum StoredDocuments {
    /// Sets a field of the documents that have another one.
    ///
    /// - Parameters:
    ///   - collection: Nothing is done if it is not there.
    ///   - folder: The folder of the SQLite files.
    package static func set(
        _ field: String, to value: Int64, inAllWith other: String, of collection: String, in folder: String
    ) async throws {
        let side = CollectionsSide.files(in: folder)
        let outcome: Result<Void, any Error>
        do {
            if let registered = try await side.registered().first(where: { $0.name == collection }),
                let database = try await side.present(registered)
            {
                try await database.write { session in
                    let documents = try session.scan(collection, after: nil, limit: .max).documents
                    for stored in documents { try set(field, to: value, ifHas: other, in: stored, of: registered, session) }
                }
            }
            outcome = .success(())
        } catch {
            outcome = .failure(error)
        }
        try await side.close()
        try outcome.get()
    }

    private static func set(
        _ field: String, to value: Int64, ifHas other: String, in stored: BSONDocument, of collection: RegisteredCollection,
        _ session: any DocumentSession
    ) throws {
        var fields = try StoredFields(stored)
        guard fields[other] != nil, let id = fields[Envelope.identifier] else { return }
        fields[field] = .int64(value)
        fields[Envelope.revision] = (try Envelope.revision(of: stored) ?? .none).next.bson
        try session.replace(stored, by: fields.document, id, in: collection.form)
    }
}
