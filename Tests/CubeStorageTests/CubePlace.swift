import CubeStorage
import MongoDatabase
import TestSupport

/// Where a cube is kept: it can be opened more than once.
struct CubePlace {
    let folder: String
    let database: MongoURL?

    func open() async throws -> any CubeStore {
        try await openCubeStore(database: database, folder: folder, logger: quietLogger)
    }
}

/// Runs a test with an empty place of its own.
func withCubePlace<Result>(
    _ kind: StoreKind, isolation: isolated (any Actor)? = #isolation, _ body: (CubePlace) async throws -> Result
) async throws -> Result {
    try await withTemporaryFolder { folder in
        try await body(CubePlace(folder: folder, database: try await kind.newDatabaseURL().map { try MongoURL($0) }))
    }
}

/// Runs a test with an empty store of its own.
func withCubeStore<Result>(
    _ kind: StoreKind, isolation: isolated (any Actor)? = #isolation, _ body: (any CubeStore) async throws -> Result
) async throws -> Result {
    try await withCubePlace(kind) { place in
        let store = try await place.open()
        do {
            let result = try await body(store)
            try await store.close()
            return result
        } catch {
            try await store.close()
            throw error
        }
    }
}
