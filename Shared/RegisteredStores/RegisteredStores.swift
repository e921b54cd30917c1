package import Storage
import CubeStorage
import MessageStorage

/// Every store that `msi migrate` moves. Stores of collections register themselves in their database, and are one entry here.
package enum RegisteredStores {
    package static var all: [any MovableStore] { [MovableCube(), MovableArchive(), MovableCollections()] }
}
