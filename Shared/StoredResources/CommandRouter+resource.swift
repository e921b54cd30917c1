package import CommandBus
import Schemas
package import Storage

extension CommandRouter {
    /// Answers the commands of a resource from its collection in a store.
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
                var former: Document?
                let updated = try transaction.update(command.id, in: collection, unchangedSince: command.unchangedSince) {
                    former = $0
                    $0.update(by: command.draft)
                }
                try transaction.record(
                    UpdateResource<Document>.name, command.id, from: former, to: updated.document, by: context.author)
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
