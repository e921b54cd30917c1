import FoundationEssentials
package import Schemas

/// Changes documents in SQLite files that no service uses, such as those of a backup.
package enum StoredDocuments {
    /// Refuses a file that has no collections. A missing file is none.
    ///
    /// - Throws: ``CommandFailure`` with status `unavailable`.
    package static func check(_ file: String, in folder: String) throws {
        let path = folder + "/" + file
        guard FileManager.default.fileExists(atPath: path), try !SQLiteBackend.hasCollections(path) else { return }
        throw CommandFailure.foreignFile(file)
    }

    /// Sets a field of the documents that have another one.
    ///
    /// - Parameters:
    ///   - collection: Nothing is done if it is not there.
    ///   - folder: The folder of the SQLite files.
    package static func set(
        _ field: String, to value: Int64, inAllWith other: String, of collection: String, in folder: String
    ) async throws {
        try await change(collection, in: folder) { fields in
            if fields[other] != nil { fields[field] = .int64(value) }
        }
    }

    /// Changes the documents of a collection, in one transaction for all.
    ///
    /// - Parameters:
    ///   - collection: Nothing is done if it is not there.
    ///   - folder: The folder of the SQLite files.
    ///   - missing: The identifier of a document that is made if it is not there, and then changed like the others.
    package static func change(
        _ collection: String, in folder: String, makingIfMissing missing: String? = nil,
        _ change: @escaping @Sendable (inout StoredFields) throws -> Void
    ) async throws {
        try await rewrite(collection, in: folder, makingIfMissing: missing, revision: { $0.next }, change)
    }

    /// Raises the revisions of a collection's documents, where callers have seen later ones. They count as changed.
    ///
    /// - Parameters:
    ///   - collection: Nothing is done if it is not there.
    ///   - folder: The folder of the SQLite files.
    ///   - raised: A number above the given one.
    package static func raiseRevisions(
        of collection: String, in folder: String, _ raised: @escaping @Sendable (Revision) -> Revision
    ) async throws {
        try await rewrite(collection, in: folder, makingIfMissing: nil, revision: raised, nil)
    }

    /// - Parameters:
    ///   - revision: The revision of a changed document by its previous one.
    ///   - change: `nil` changes the revision of each document.
    private static func rewrite(
        _ collection: String, in folder: String, makingIfMissing missing: String?,
        revision: @escaping @Sendable (Revision) -> Revision, _ change: (@Sendable (inout StoredFields) throws -> Void)?
    ) async throws {
        let side = CollectionsSide.files(in: folder)
        let outcome: Result<Void, any Error>
        do {
            if let registered = try await side.registered().first(where: { $0.name == collection }) {
                let database = try await side.made(registered)
                try await database.write { session in
                    let documents = try session.scan(collection, after: nil, limit: .max).documents
                    for stored in documents { try replace(stored, in: registered, session, revision, change) }
                    let id = missing.map { BSONValue.string($0) }
                    guard let id, try !documents.contains(where: { try BSONFields($0)[Envelope.identifier] == id }) else {
                        return
                    }
                    var fields = try StoredFields([Envelope.identifier: id])
                    try change?(&fields)
                    fields[Envelope.schema] = .int64(registered.schema)
                    fields[Envelope.revision] = Revision.none.next.bson
                    try session.insert(fields.document, id, into: registered.form)
                }
            }
            outcome = .success(())
        } catch {
            outcome = .failure(error)
        }
        try await side.close()
        try outcome.get()
    }

    private static func replace(
        _ stored: BSONDocument, in collection: RegisteredCollection, _ session: any DocumentSession,
        _ revision: (Revision) -> Revision, _ change: ((inout StoredFields) throws -> Void)?
    ) throws {
        let previous = try StoredFields(stored)
        var fields = previous
        guard let id = fields[Envelope.identifier] else { return }
        if let change {
            try change(&fields)
            guard fields.document != previous.document else { return }
        }
        let known = try Envelope.revision(of: stored)
        // Documents of some collections have no revisions.
        if known != nil || change == nil { fields[Envelope.revision] = revision(known ?? .none).bson }
        try session.replace(stored, by: fields.document, id, in: collection.form)
    }
}

extension StoredFields {
    /// The field of an inner document; `nil` if either is absent.
    package subscript(_ key: String, _ inner: String) -> BSONValue? {
        guard case .document(let document)? = self[key], let fields = try? StoredFields(document) else { return nil }
        return fields[inner]
    }

    /// Sets the field of an inner document, if that is there.
    package mutating func set(_ key: String, _ inner: String, to value: BSONValue) throws {
        guard case .document(let document)? = self[key] else { return }
        var fields = try StoredFields(document)
        fields[inner] = value
        self[key] = .document(fields.document)
    }
}
