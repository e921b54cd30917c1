package import CommandBus
import Schemas
package import Storage

extension CommandRouter {
    /// Answers the commands of a resource from its collection in a store.
    package mutating func serve<Document: StoredResource>(_ type: Document.Type, from store: Storage) {
        let collection = Document.collection
        on(AddResource<Document>.self) { command, _ in
            let document = Document(id: ObjectID(), in: command.parent, draft: command.draft)
            return try await store.transaction { transaction in
                let added = try transaction.insert(document, into: collection)
                try document.added(in: transaction)
                return Revised(added)
            }
        }
        on(GetResource<Document>.self) { command, _ in
            guard let found = try await store.get(command.id, from: collection) else {
                throw CommandFailure(.notFound, "no \(collection.name) \(command.id)")
            }
            return Revised(found)
        }
        on(UpdateResource<Document>.self) { command, _ in
            let updated = try await store.update(command.id, in: collection, unchangedSince: command.unchangedSince) {
                $0.update(by: command.draft)
            }
            return Revised(updated)
        }
        on(DeleteResource<Document>.self) { command, _ in
            try await store.transaction { transaction in
                let deleted = try transaction.delete(command.id, from: collection, unchangedSince: command.unchangedSince)
                try deleted.deleted(in: transaction)
            }
            return Done()
        }
        on(ListResources<Document>.self) { command, _ in
            let page = try await store.page(
                of: collection, Document.all(in: command.parent), after: try Cursor(after: command.after),
                limit: command.limit)
            return ListResources<Document>.Reply(documents: page.documents.map(\.document), next: page.next?.description)
        }
    }
}

extension Revised where Document: StoredDocument {
    fileprivate init(_ stored: Stored<Document>) {
        self.init(stored.document, revision: stored.revision)
    }
}

extension Cursor {
    /// The cursor that a caller sends back; `nil` for the first page.
    fileprivate init?(after text: String?) throws(CommandFailure) {
        guard let text else { return nil }
        guard let cursor = Cursor(text) else {
            throw CommandFailure(.invalid, "after: expected the \"next\" of another page", field: "after")
        }
        self = cursor
    }
}
