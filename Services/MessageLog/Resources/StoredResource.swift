package import Bus
import Base
package import Schemas
package import Store

/// A resource in a collection of a store. ``CommandRouter/serve(_:from:)`` answers its commands.
package protocol StoredResource: Resource, StoredDocument {
    static var collection: Collection<Self> { get }

    /// The documents of a parent, in the order of the list. The collection needs an index for this query.
    static func all(in parent: Parent.ID) -> Query<Self>

    /// Makes further changes when the document is added, such as a change of its parent. It runs in the same transaction, which may be
    /// repeated.
    ///
    /// If the parent is in the same store, it exists. Another transaction may still delete it at the same time, unless this method
    /// changes it.
    ///
    /// - Throws: Any error, to refuse the addition. A `conflict` must name a field: without one it means an edit conflict.
    func added(in transaction: Transaction) throws

    /// Makes further changes when the document is deleted, as ``added(in:)`` does.
    func deleted(in transaction: Transaction) throws
}

extension StoredResource {
    package func added(in transaction: Transaction) throws {}
    package func deleted(in transaction: Transaction) throws {}
}

extension StoredResource where Parent == TopLevel {
    /// In the order of their addition; those of the same second are in no defined order.
    package static func all(in parent: Void) -> Query<Self> { Query() }
}

extension CommandRouter {
    /// Answers the commands of a resource from its collection in a store. In an audited store each change is recorded.
    package mutating func serve<Document: StoredResource>(_ type: Document.Type, from store: Storage) {
        let collection = Document.collection
        on(AddResource<Document>.self) { command, context in
            let document = Document(id: ObjectID(), in: command.parent, draft: command.draft)
            return try await store.transaction { transaction in
                try Document.requireParent(command.parent, in: transaction)
                let added = try transaction.insert(document, into: collection)
                try document.added(in: transaction)
                try transaction.record(AddResource<Document>.name, document.id, from: nil, to: document, by: context.author)
                return Revised(added)
            }
        }
        on(GetResource<Document>.self) { command, _ in
            Revised(try await store.snapshot { try Document.find(command.id, in: $0) })
        }
        on(UpdateResource<Document>.self) { command, context in
            try await store.transaction { transaction in
                var previous: Document?
                let updated = try transaction.update(command.id, in: collection, unchangedSince: command.unchangedSince) {
                    previous = $0
                    $0.update(by: command.draft)
                }
                try transaction.record(
                    UpdateResource<Document>.name, command.id, from: previous, to: updated.document, by: context.author)
                return Revised(updated)
            }
        }
        on(DeleteResource<Document>.self) { command, context in
            try await store.transaction { transaction in
                let deleted = try transaction.delete(command.id, from: collection, unchangedSince: command.unchangedSince)
                try deleted.deleted(in: transaction)
                try transaction.record(DeleteResource<Document>.name, command.id, from: deleted, to: nil, by: context.author)
            }
            return Done()
        }
        on(ListResources<Document>.self) { command, _ in
            let cursor = try Cursor(after: command.after)
            let page = try await store.snapshot { transaction in
                try Document.requireParent(command.parent, in: transaction)
                return try transaction.page(
                    of: collection, Document.all(in: command.parent), after: cursor, limit: command.limit)
            }
            return ListResources<Document>.Reply(documents: page.documents.map(\.document), next: page.next?.description)
        }
    }
}

extension Transaction {
    /// Records the change of a document for the audit log, if the store is audited.
    ///
    /// - Parameters:
    ///   - action: The command's name.
    ///   - previous: `nil` for a new document.
    ///   - document: `nil` for a deleted document.
    fileprivate func record<Document: StoredResource>(
        _ action: String, _ id: ObjectID, from previous: Document?, to document: Document?, by author: AuditAuthor
    ) throws {
        guard isAudited else { return }
        try record(
            AuditEntry(
                by: author, action: action, object: AuditObject(kind: Document.kind, id: "\(id)"),
                before: try previous.map { try JSONValue(encoding: $0) }, after: try document.map { try JSONValue(encoding: $0) })
        )
    }
}

extension StoredResource {
    /// - Throws: ``CommandFailure`` with `not_found` if there is no such document.
    fileprivate static func find(_ id: ObjectID, in transaction: Transaction) throws -> Stored<Self> {
        guard let found = try transaction.get(id, from: collection) else {
            throw CommandFailure(.notFound, "no \(collection.name) \(id)")
        }
        return found
    }

    fileprivate static func require(_ id: ObjectID, in transaction: Transaction) throws {
        _ = try find(id, in: transaction)
    }

    /// - Throws: ``CommandFailure`` with `not_found` if the parent is a resource of the same store, and is not there.
    fileprivate static func requireParent(_ parent: Parent.ID, in transaction: Transaction) throws {
        guard let type = Parent.self as? any StoredResource.Type, let id = Parent.objectID(parent) else { return }
        try type.require(id, in: transaction)
    }
}

extension Revised where Document: StoredDocument {
    fileprivate init(_ stored: Stored<Document>) {
        self.init(stored.document, revision: stored.revision)
    }
}
