import CubeStorage
import Logging
import MongoDatabase
import TestSupport

/// The place of a cube, which can be opened more than once.
struct CubePlace {
    let folder: String
    /// The connection string, if it is in MongoDB.
    let url: String?

    var database: MongoURL? {
        get throws { try url.map { try MongoURL($0) } }
    }

    func open(sizeLimit: Int64 = 8 << 20, logger: Logger = quietLogger) async throws -> any CubeStore {
        try await openCubeStore(
            database: try database, folder: folder, sizeLimit: CubeSizeLimit(bytes: sizeLimit), logger: logger)
    }
}

/// Runs a test with an empty place.
func withCubePlace<Result>(
    _ kind: StoreKind, isolation: isolated (any Actor)? = #isolation, _ body: (CubePlace) async throws -> Result
) async throws -> Result {
    try await withTemporaryFolder { folder in
        try await body(CubePlace(folder: folder, url: try await kind.newDatabaseURL()))
    }
}

/// Runs a test with an empty store.
func withCubeStore<Result>(
    _ kind: StoreKind, isolation: isolated (any Actor)? = #isolation, _ body: (any CubeStore) async throws -> Result
) async throws -> Result {
    try await withCubePlace(kind) { place in
        let store = try await place.open()
        return try await perform {
            try await body(store)
        } finally: {
            try await store.close()
        }
    }
}
