import Logging
import Schemas
package import Storage
import UnreadableDocuments

/// The cube, as `msi migrate` moves it.
package struct MovableCube: MovableStore {
    package init() {}

    package var requiredFiles: [String] { ["cube.sqlite"] }

    package func open(_ places: MovePlaces) async throws -> any StoreMove {
        var logger = Logger(label: "msi")
        logger.logLevel = .critical
        // The limit does not apply to a copy.
        let unlimited = CubeSizeLimit(bytes: .max)
        let sides = places.sides(
            sqlite: try await openCubeStore(
                database: nil, folder: places.folder, sizeLimit: unlimited, unreadable: .refused, logger: logger),
            mongodb: try await openCubeStore(
                database: places.url, folder: places.folder, sizeLimit: unlimited, unreadable: .refused, logger: logger))
        return CubeMove(source: sides.source, target: sides.target, otherTarget: places.otherTarget)
    }
}

/// Moves the cube in one step, with its version and the entries that the audit log has not acknowledged.
package struct CubeMove: StoreMove {
    let source: any CubeStore
    let target: any CubeStore
    let otherTarget: String

    package init(source: any CubeStore, target: any CubeStore, otherTarget: String) {
        self.source = source
        self.target = target
        self.otherTarget = otherTarget
    }

    package func checkTarget() async throws {
        let stored = try await target.snapshot()
        guard try await stored != source.snapshot(), stored != .initial else { return }
        throw MigrationFailure.otherContents(
            "it contains another cube, at version \(stored.version)", otherTarget: otherTarget)
    }

    package func copy(report: (String) -> Void) async throws {
        do {
            try await target.restore(try await source.snapshot())
            try await target.addPendingAudit(of: source)
        } catch let failure as CommandFailure where failure.status == .conflict {
            throw MigrationFailure("the cube cannot be copied: \(failure.message)")
        }
    }

    package func compare() async throws -> [StoreComparison] {
        [StoreComparison("cube", of: "channels", source: try await digest(of: source), target: try await digest(of: target))]
    }

    package func close() async throws {
        try await source.close()
        try await target.close()
    }

    /// The cube's channels and its version. The pending entries of the audit log are not compared: one of the two stores may have
    /// forwarded some of them since a former run, and adding them again changes nothing.
    private func digest(of store: any CubeStore) async throws -> StoreDigest {
        let snapshot = try await store.snapshot()
        var digest = StoreDigest()
        for channel in snapshot.channels { try digest.add(channel) }
        try digest.add(CubeChanged(version: snapshot.version))
        digest.count = snapshot.channels.count
        return digest
    }
}
