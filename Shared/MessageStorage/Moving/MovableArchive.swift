import Logging
package import Storage
import UnreadableDocuments

/// The archive with its outbox, as `msi migrate` moves it.
package struct MovableArchive: MovableStore {
    package init() {}

    package var requiredFiles: [String] { ["message-log.sqlite"] }

    package func open(_ places: MovePlaces) async throws -> any StoreMove {
        var logger = Logger(label: "msi")
        logger.logLevel = .critical
        let sides = places.sides(
            sqlite: try await openMessageStore(database: nil, folder: places.folder, unreadable: .refused, logger: logger),
            mongodb: try await openMessageStore(
                database: places.url, folder: places.folder, unreadable: .refused, logger: logger))
        return ArchiveMove(source: sides.source, target: sides.target, otherTarget: places.otherTarget)
    }
}
