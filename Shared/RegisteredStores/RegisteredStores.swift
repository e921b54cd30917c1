package import Storage
import CubeStorage
import MessageStorage

/// Every store that `msi migrate` moves. All stores of collections are one entry here, since they register themselves
/// in their database.
package enum RegisteredStores {
    /// In the order in which a backup copies them while services write: a message names its subject, and both hand their entries for the
    /// audit log, which is a collection, over to it. Broadcasts are collections too, so one that becomes due meanwhile may be noted as pushed
    /// without its push; nothing goes out twice.
    package static var all: [any MovableStore] { [MovableArchive(), MovableCube(), MovableCollections()] }
}
