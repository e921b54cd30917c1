/// A document with commands to add, get, update, delete and list it, such as `room.add`: ``AddResource`` and its siblings.
///
/// The type of the document declares its commands. `Shared/StoredResources` answers them from a store, and
/// `Services/Gateway/Resources` has their routes.
package protocol Resource: ResourceParent, Codable, Identifiable where ID == ObjectID {
    /// What a caller sends to add or update a document.
    associatedtype Draft: Codable & Sendable
    /// The kind of document that it belongs to, such as a room's building.
    associatedtype Parent: ResourceParent = TopLevel

    /// Its name in commands and paths, such as `room`.
    static var kind: String { get }

    /// Makes a new document.
    init(id: ObjectID, in parent: Parent.ID, draft: Draft)

    /// Replaces the fields that a caller may change.
    mutating func update(by draft: Draft)
}

/// The documents that a resource belongs to: another resource, or ``TopLevel``.
package protocol ResourceParent: Sendable {
    associatedtype ID: Sendable

    /// The identifier of a parent, from a request or a command.
    ///
    /// - Parameter read: Reads it. Gets the parent's kind. ``TopLevel`` does not call it.
    static func identifier(_ read: (_ kind: String) throws -> ObjectID) rethrows -> ID

    /// The parent's ObjectId, if it has one.
    static func objectID(_ identifier: ID) -> ObjectID?
}

extension Resource {
    package static func identifier(_ read: (_ kind: String) throws -> ObjectID) rethrows -> ObjectID { try read(kind) }
    package static func objectID(_ identifier: ObjectID) -> ObjectID? { identifier }
}

/// The parent of a resource that belongs to no other.
package enum TopLevel: ResourceParent {
    package static func identifier(_ read: (_ kind: String) throws -> ObjectID) {}
    package static func objectID(_ identifier: Void) -> ObjectID? { nil }
}

/// A document with its revision.
package struct Revised<Document: Codable & Sendable>: Codable, Sendable {
    package let revision: Revision
    package let document: Document

    package init(_ document: Document, revision: Revision) {
        self.document = document
        self.revision = revision
    }
}
