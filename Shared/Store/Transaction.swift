import Base
package import Schemas

/// The operations on collections, one after another on the database's thread. It must not escape its closure.
///
/// Every method throws ``CommandFailure``, like those of ``Storage``.
package struct Transaction {
    let session: any DocumentSession
    let unreadable: @Sendable (String) -> UnreadableDocuments
    let now: UnixMilliseconds
    /// The queue of an audited store.
    var audit: AuditCollections?

    /// - Returns: `nil` if the document is missing, expired or unreadable. The log names unreadable ones.
    package func get<Document>(_ id: Document.ID, from collection: Collection<Document>) throws -> Stored<Document>? {
        let found = try session.find(Selection(id.bson, of: collection.form, now: now))
        return try read(found, of: collection).first
    }

    /// Reads several documents, on MongoDB with one command.
    ///
    /// - Returns: Those that ``get(_:from:)`` returns, in any order.
    package func get<Document>(all ids: [ObjectID], from collection: Collection<Document>) throws -> [Stored<Document>]
    where Document.ID == ObjectID {
        guard !ids.isEmpty else { return [] }
        return try read(session.find(Selection(ids, of: collection.form, now: now)), of: collection)
    }

    /// A query's documents, page by page. Unreadable documents are left out and logged.
    ///
    /// - Parameters:
    ///   - cursor: The end of the previous page.
    ///   - limit: The maximum number of documents; at least 1.
    package func page<Document>(
        of collection: Collection<Document>, _ query: Query<Document> = Query(), after cursor: Cursor? = nil, limit: Int
    ) throws -> Page<Document> {
        var selection = try Selection(query, of: collection.form, after: cursor, limit: limit + 1, now: now)
        var documents: [Stored<Document>] = []
        var places: [Cursor] = []
        // Further documents replace those that are left out: only the last page may be short.
        while documents.count <= limit {
            let found = try session.find(selection)
            for document in found {
                guard let readable = try read([document], of: collection).first else { continue }
                documents.append(readable)
                places.append(Cursor(values: try selection.order.map { try $0.value(in: document) }))
            }
            guard found.count == selection.limit else { break }
            selection.skip += found.count
        }
        let isLast = documents.count <= limit
        return Page(documents: Array(documents.prefix(limit)), next: isLast ? nil : places[limit - 1])
    }

    /// A part of a collection in the order of the identifiers, which may be of any type. Unlike a page it names unreadable
    /// documents, and contains expired ones.
    ///
    /// - Parameters:
    ///   - cursor: The end of the previous part.
    ///   - limit: The maximum number of documents; at least 1.
    package func scan<Document>(
        _ collection: Collection<Document>, after cursor: Cursor? = nil, limit: Int
    ) throws -> ScannedDocuments<Document> {
        let found = try session.scan(collection.name, after: cursor?.values.first, limit: limit)
        var documents: [Stored<Document>] = []
        var unreadable: [String] = []
        for (document, id) in zip(found.documents, found.identifiers) {
            if let readable = try read([document], of: collection).first {
                documents.append(readable)
            } else {
                unreadable.append(id.identifierText)
            }
        }
        let next = found.documents.count == limit ? found.last.map { Cursor(values: [$0]) } : nil
        return ScannedDocuments(documents: documents, unreadable: unreadable, next: next)
    }

    /// All documents of a collection, also unreadable and expired ones, in the order of their identifiers.
    package func unread<Document>(_ collection: Collection<Document>) throws -> [UnreadDocument<Document>] {
        try session.scan(collection.name, after: nil, limit: .max).documents.map { stored in
            let current = (try? upgraded(stored, of: collection.form)) ?? stored
            return UnreadDocument(fingerprint: try current.fingerprint) {
                try read([stored], of: collection).first?.document
            }
        }
    }

    /// Which of some values a unique field has in the collection, also in unreadable documents.
    package func stored<Document, Value>(
        _ values: [Value], in field: Field<Document, Value>, of collection: Collection<Document>
    ) throws -> Set<Value> {
        let found = try session.values(of: field.form, among: values.map(\.bson), in: collection.form)
        return Set(found.compactMap { Value(bson: $0) })
    }

    /// The greatest number up to a maximum that is the `_id` of a document, also of an unreadable one; `nil` if there is none.
    package func greatestID<Document>(of collection: Collection<Document>, upTo max: Int64) throws -> Int64?
    where Document.ID == Int64 {
        try session.greatestID(upTo: max, in: collection.form)
    }

    /// - Throws: Also `conflict` if another document has the same `_id`, or the same values in a unique index, whose fields
    ///   `field` names; `invalid` if the document has more than 16 MiB.
    @discardableResult
    package func insert<Document>(_ document: Document, into collection: Collection<Document>) throws -> Stored<Document> {
        let stored = try new(document, of: collection)
        try write(stored, in: collection.form) { try session.insert(stored, document.id.bson, into: collection.form) }
        return Stored(document: document, revision: Revision.none.next, stored: stored)
    }

    /// Inserts several documents, on MongoDB with one command.
    ///
    /// - Throws: As ``insert(_:into:)``. Then nothing may be committed. Expired documents of the same keys are a `conflict`.
    package func insert<Document>(all documents: [Document], into collection: Collection<Document>) throws {
        let stored = try documents.map { (try new($0, of: collection), id: $0.id.bson) }
        do {
            try session.insert(stored, into: collection.form)
        } catch let violation as UniqueViolation {
            throw CommandFailure.duplicate(violation, in: collection.form)
        }
    }

    /// Stores a document in the place of any with the same `_id`, also of an unreadable one.
    package func overwrite<Document>(with document: Document, in collection: Collection<Document>) throws {
        _ = try session.delete(where: .equal(collection.form.identifier, document.id.bson), from: collection.form)
        try insert(document, into: collection)
    }

    /// Changes a document. Fields that its type does not know stay as they are.
    ///
    /// - Parameters:
    ///   - revision: The revision that the edit is based on; `nil` if it does not matter.
    ///   - change: May run more than once. If it throws, nothing is changed. It must not change the `id`.
    /// - Throws: Also `not_found`; `conflict` if the document was changed after that revision or is unreadable; the failures of
    ///   ``insert(_:into:)``; the error of `change`.
    @discardableResult
    package func update<Document>(
        _ id: Document.ID, in collection: Collection<Document>, unchangedSince revision: Revision? = nil,
        _ change: (inout Document) throws -> Void
    ) throws -> Stored<Document> {
        let (stored, current) = try readToChange(id, in: collection, unchangedSince: revision)
        let previous = try upgraded(stored, of: collection.form)
        var document = current.document
        let old = try encoded(document, of: collection)
        try change(&document)
        precondition(document.id == id, "a change of \(collection.name) \(id) gives it another id")
        let new = try encoded(document, of: collection)
        guard old.document != new.document else { return current }
        var merged = try StoredFields(previous.merged(from: old.document, to: new.document))
        if collection.form.hasRevisions { merged[Envelope.revision] = current.revision.next.bson }
        let replacement = try checked(merged.document, of: collection.form)
        try write(replacement, in: collection.form) {
            try session.replace(stored, by: replacement, id.bson, in: collection.form)
        }
        return Stored(document: document, revision: current.revision.next, stored: replacement)
    }

    /// - Parameter revision: The revision that the edit is based on; `nil` if it does not matter.
    /// - Returns: The removed document.
    /// - Throws: Also `not_found`; `conflict` if the document was changed after that revision or is unreadable.
    @discardableResult
    package func delete<Document>(
        _ id: Document.ID, from collection: Collection<Document>, unchangedSince revision: Revision? = nil
    ) throws -> Document {
        let (stored, current) = try readToChange(id, in: collection, unchangedSince: revision)
        try session.delete(stored, id.bson, from: collection.form)
        return current.document
    }

    /// Removes those documents that are there, with one command.
    package func delete<Document>(_ ids: [Document.ID], from collection: Collection<Document>) throws {
        try session.delete(ids.map(\.bson), from: collection.form)
    }

    /// The number of documents, also of unreadable ones, up to a maximum.
    package func count<Document>(_ collection: Collection<Document>, upTo max: Int) throws -> Int {
        try session.count(collection.form, upTo: max)
    }

    /// Refuses to continue while the disk has only its reserve, for a change whose growth the ``ReserveUse`` of its collections does not
    /// tell.
    ///
    /// - Throws: ``CommandFailure`` with status `storage_full`.
    package func checkRoom() throws { try session.requireRoom() }

    // MARK: Reading

    private func readToChange<Document>(
        _ id: Document.ID, in collection: Collection<Document>, unchangedSince known: Revision?
    ) throws -> (BSONDocument, Stored<Document>) {
        guard let stored = try session.find(Selection(id.bson, of: collection.form, now: now)).first else {
            throw CommandFailure.notFound(id, in: collection.form)
        }
        let current: Stored<Document>
        do {
            current = try decoded(stored, of: collection.form)
        } catch {
            throw CommandFailure.unreadable(id, in: collection.form, error)
        }
        if let known, current.revision != known {
            throw CommandFailure.changed(id, in: collection.form, current.revision, since: known)
        }
        return (stored, current)
    }

    private func read<Document>(_ documents: [BSONDocument], of collection: Collection<Document>) throws -> [Stored<Document>] {
        let unreadable = unreadable(collection.name)
        return try unreadable.readable(of: documents) { stored in
            let read: Stored<Document> = try decoded(stored, of: collection.form)
            if let reason = read.omission { try unreadable.leaveOut(stored.identifier, because: reason) }
            return read
        }
    }

    private func decoded<Document>(_ stored: BSONDocument, of collection: CollectionForm) throws -> Stored<Document> {
        let current = try upgraded(stored, of: collection)
        return Stored(
            document: try BSONCoder.decode(Document.self, from: current), revision: try Envelope.revision(of: current) ?? .none,
            stored: current)
    }

    /// Upgrades a document of an older schema. One of the next schema, if it is readable, stays as it is.
    func upgraded(_ stored: BSONDocument, of collection: CollectionForm) throws -> BSONDocument {
        let schema = try Envelope.schema(of: stored)
        guard collection.formats.readable.contains(Int(schema)) else {
            throw BSONError(
                "a newer version of the program has written it: schema \(schema), this one knows "
                    + "\(collection.formats.readable.upperBound)")
        }
        guard schema < collection.schema else { return stored }
        var fields = try StoredFields(stored)
        for upgrade in collection.upgrades.dropFirst(Int(schema) - 1) { try upgrade(&fields) }
        fields[Envelope.schema] = .int64(collection.schema)
        return fields.document
    }

    // MARK: Writing

    private func new<Document>(_ document: Document, of collection: Collection<Document>) throws -> BSONDocument {
        var fields = try encoded(document, of: collection)
        if collection.form.hasRevisions { fields[Envelope.revision] = Revision.none.next.bson }
        if collection.form.schema > 1 { fields[Envelope.schema] = .int64(collection.form.schema) }
        return try checked(fields.document, of: collection.form)
    }

    private func encoded<Document>(_ document: Document, of collection: Collection<Document>) throws -> StoredFields {
        do {
            let fields = try StoredFields(try BSONCoder.encode(document))
            precondition(
                fields[Envelope.identifier] == document.id.bson,
                "a \(collection.name) has to store its id as \(Envelope.identifier)")
            assert(
                collection.indexes.allSatisfy { $0.check(document, fields) == nil },
                "a \(collection.name) stores an indexed field under another name: \(collection.indexes.compactMap { $0.check(document, fields) })"
            )
            return fields
        } catch let error as BSONError {
            throw CommandFailure(.invalid, "the \(collection.name) cannot be stored: \(error)")
        }
    }

    private func checked(_ document: BSONDocument, of collection: CollectionForm) throws -> BSONDocument {
        let bytes = document.withUnsafeBytes(\.count)
        guard bytes <= StoredSize.maxBytes else { throw CommandFailure.tooLarge(bytes, in: collection) }
        return document
    }

    /// Writes a document. Expired documents that conflict with it are removed first.
    private func write(_ document: BSONDocument, in collection: CollectionForm, _ body: () throws -> Void) throws {
        do {
            if !session.survivesViolation { try removeExpired(like: document, from: collection) }
            do {
                try body()
            } catch let violation as UniqueViolation {
                guard session.survivesViolation, try removeExpired(like: document, from: collection) > 0 else { throw violation }
                try body()
            }
        } catch let violation as UniqueViolation {
            throw CommandFailure.duplicate(violation, in: collection)
        }
    }

    /// Removes expired documents with the same values in a unique index.
    @discardableResult
    private func removeExpired(like document: BSONDocument, from collection: CollectionForm) throws -> Int {
        guard let expired = collection.expired(at: now) else { return 0 }
        var unique = [[collection.identifier]]
        unique += collection.indexes.filter { $0.kind == .unique }.map(\.fields)
        let same = try unique.compactMap { fields -> Predicate? in
            let values = try fields.map { try $0.value(in: document) }
            return values.contains(.null) ? nil : .all(zip(fields, values).map { .equal($0, $1) })
        }
        return try session.delete(where: .all([.any(same), expired]), from: collection)
    }
}
