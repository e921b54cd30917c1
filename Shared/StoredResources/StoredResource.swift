package import Schemas
package import Storage

/// A resource in a collection of a store. ``CommandRouter/serve(_:from:)`` answers its commands.
package protocol StoredResource: Resource, StoredDocument {
    static var collection: Collection<Self> { get }

    /// The documents of a parent, in the order of the list. The collection needs an index for this query.
    static func all(in parent: Parent.ID) -> Query<Self>

    /// Makes further changes when the document is added, such as a change of its parent. They are in the same transaction, so
    /// they may run more than once.
    ///
    /// A parent of the same store exists then. Only a change of it here makes sure that no other transaction deletes it at the same
    /// time.
    ///
    /// - Throws: Any error refuses the addition. A `conflict` must name a field: without one it would mean that the document was
    ///   changed meanwhile.
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
