package import Schemas
package import Storage

/// A resource in a collection of a store. ``CommandRouter/serve(_:from:)`` answers its commands.
package protocol StoredResource: Resource, StoredDocument {
    static var collection: Collection<Self> { get }

    /// The documents of a parent in their order. The collection has an index for the query.
    static func all(in parent: Parent.ID) -> Query<Self>

    /// Further changes when the document is added, in the same transaction, such as one of its parent. It may run more than
    /// once.
    ///
    /// - Throws: Any error refuses the addition. A `conflict` names a field: without one it means that the document was changed
    ///   meanwhile.
    func added(in transaction: Transaction) throws

    /// Further changes when the document is deleted, as for ``added(in:)``.
    func deleted(in transaction: Transaction) throws
}

extension StoredResource {
    package func added(in transaction: Transaction) throws {}
    package func deleted(in transaction: Transaction) throws {}
}

extension StoredResource where Parent == TopLevel {
    /// In the order of their addition.
    package static func all(in parent: Void) -> Query<Self> { Query() }
}
