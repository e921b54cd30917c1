import Base

/// A document with commands to add, get, update, delete and list it, such as `room.add`: `AddResource` and its siblings.
///
/// The type of the document declares its commands. `Services/MessageLog/Resources` answers them from a store, and
/// the gateway's `ResourceRoutes` has their routes.
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

/// The number of a document's changes: 1 for a new document, 0 for a document that another program wrote. Only the storage layer
/// makes new revisions. On the wire it is a number.
package struct Revision: RangedInteger, Hashable, Comparable, ExpressibleByIntegerLiteral, LosslessStringConvertible,
    Sendable
{
    package static let range: ClosedRange<Int64> = 0...Int64.max

    package let rawValue: Int64

    package init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    package init(integerLiteral value: Int64) {
        self.init(rawValue: value)
    }

    package init?(_ description: String) {
        guard let value = Int64(description) else { return nil }
        self.init(rawValue: value)
    }

    /// The revision of a document that another program wrote.
    package static let none: Revision = 0

    /// The revision that the next change makes.
    package var next: Revision { Revision(rawValue: rawValue == .max ? .max : rawValue + 1) }

    package var description: String { String(rawValue) }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
