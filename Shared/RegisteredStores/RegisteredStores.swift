package import Storage
import CubeStorage
import MessageStorage

/// Every store that `msi migrate` moves. All stores of collections are one entry here, since they register themselves
/// in their database.
package enum RegisteredStores {
    package static var all: [any MovableStore] { [MovableCube(), MovableArchive(), MovableCollections()] }
}
