package import Store
import Archive
import Schemas
import ServiceKit

/// Every store that `msi migrate` moves. Stores of collections register themselves in their database, and are one entry here.
package enum RegisteredStores {
    /// In the order in which a backup copies them while services write: what refers to another store comes before it.
    ///
    /// A fan-out of Web Push says which of its blocks the message log has, so its store comes first, and the archive has these blocks. In
    /// the other order a restored fan-out would leave out blocks that the backup does not have. A message names its subject and hands its
    /// entries over to the audit log, and both of these are collections. Broadcasts are collections too, so one that becomes due during the
    /// copy may be noted as pushed without its push; nothing goes out twice.
    package static var all: [any MovableStore] {
        [
            MovableCollections(of: .only(ServiceEntry.webpush.name)), MovableArchive(),
            MovableCollections(required: cube, of: .others(than: ServiceEntry.webpush.name)),
        ]
    }

    /// The seed's programs may have filled a database before a cube service has opened it.
    private static let cube = ["cube": ["icube", CubeNumbers.collection]]
}
