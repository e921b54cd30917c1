import Logging
package import Schemas

/// A document with its revision.
@dynamicMemberLookup
package struct Stored<Document: StoredDocument>: Sendable {
    package let document: Document
    /// An edit passes it as `unchangedSince`, so that it does not undo a change that its author has not seen.
    package let revision: Revision
    /// The document as it is stored, with fields that its type does not know.
    let stored: BSONDocument

    /// As ``BSONDocument/fingerprint``, of the stored document.
    package var fingerprint: UInt64 { get throws { try stored.fingerprint } }

    package subscript<Value>(dynamicMember path: KeyPath<Document, Value>) -> Value { document[keyPath: path] }
}

extension Stored: Equatable where Document: Equatable {
    package static func == (left: Stored, right: Stored) -> Bool {
        left.document == right.document && left.revision == right.revision
    }
}

/// A document that is read only when it is needed.
package struct UnreadDocument<Document: StoredDocument> {
    /// As ``BSONDocument/fingerprint``, of the stored document.
    package let fingerprint: UInt64
    /// - Returns: `nil` if the document cannot be read. The log names it.
    package let read: () throws -> Document?
}

/// The layer's own fields in a stored document.
enum Envelope {
    static let identifier = "_id"
    /// The number of the document's changes, from 1; absent in documents of other programs.
    static let revision = "_revision"
    /// The document's schema; absent in schema 1.
    static let schema = "_schema"

    /// Why a stored row is not a document. Sessions return this field in its place.
    static let unreadable = "_unreadable"

    static func revision(of document: BSONDocument) throws -> Revision? {
        try BSONFields(document).optional(revision)
    }

    /// - Throws: ``BSONError`` if the stored row is not a document.
    static func schema(of document: BSONDocument) throws -> Int64 {
        let fields = try BSONFields(document)
        if let reason: String = try fields.optional(unreadable) { throw BSONError(reason) }
        return try fields.optional(schema) ?? 1
    }
}

extension Revision: BSONConvertible {}

/// The fields of a stored document, in their order. Upgrades edit them.
package struct StoredFields: Sendable {
    private var fields: [(key: String, value: BSONValue)]

    /// - Throws: ``BSONError`` if the bytes are not a document.
    init(_ document: BSONDocument) throws(BSONError) {
        fields = try BSONFields(document).all
    }

    var document: BSONDocument { BSONDocument(fields.lazy.map { ($0.key, $0.value) }) }

    var keys: [String] { fields.map(\.key) }

    /// Setting `nil` removes the field.
    package subscript(_ key: String) -> BSONValue? {
        get { fields.first { $0.key == key }?.value }
        set {
            let index = fields.firstIndex { $0.key == key }
            switch (index, newValue) {
            case (let index?, let value?): fields[index].value = value
            case (let index?, nil): fields.remove(at: index)
            case (nil, let value?): fields.append((key, value))
            case (nil, nil): break
            }
        }
    }

    /// Renames a field, if it is there.
    package mutating func rename(_ key: String, to name: String) {
        guard let value = self[key] else { return }
        self[key] = nil
        self[name] = value
    }

    /// Null if the field is absent or an inner document cannot be read.
    subscript(_ field: FieldForm) -> BSONValue {
        (try? field.value(in: document)) ?? .null
    }
}

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
        try StoreRegister.note(collection.name, of: store, schema: collection.schema, in: session)
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
