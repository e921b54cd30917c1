package import Schemas

/// A document with its revision.
@dynamicMemberLookup
package struct Stored<Document: StoredDocument>: Sendable {
    package let document: Document
    /// An edit passes it as `unchangedSince`, so that it does not undo a change that its author has not seen.
    package let revision: Revision

    package subscript<Value>(dynamicMember path: KeyPath<Document, Value>) -> Value { document[keyPath: path] }
}

extension Stored: Equatable where Document: Equatable {}
