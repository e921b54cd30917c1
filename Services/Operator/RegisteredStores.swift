package import Store
import Archive
import Schemas

/// Every store that `msi migrate` moves. All stores of collections are one entry here, since they register themselves
/// in their database.
package enum RegisteredStores {
    /// In the order in which a backup copies them while services write: a message names its subject and hands its entries over to the audit
    /// log, and both of these are collections. Broadcasts are collections too, so one that becomes due during the copy may be noted as
    /// pushed without its push; nothing goes out twice.
    package static var all: [any MovableStore] { [MovableArchive(), MovableCollections(required: cube)] }

    /// The seed's programs may have filled a database before a cube service has opened it.
    private static let cube = ["cube": ["icube", CubeNumbers.collection]]
}
