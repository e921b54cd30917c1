import MessageStorage
import MongoDatabase
import TestSupport

/// Where an archive is kept: it can be opened more than once.
struct MessagePlace {
    let folder: String
    let database: MongoURL?

    func open() async throws -> any MessageStore {
        try await openMessageStore(database: database, folder: folder, logger: quietLogger)
    }
}

/// Runs a test with an empty place of its own.
func withMessagePlace<Result>(
    _ kind: StoreKind, isolation: isolated (any Actor)? = #isolation, _ body: (MessagePlace) async throws -> Result
) async throws -> Result {
    try await withTemporaryFolder { folder in
        try await body(MessagePlace(folder: folder, database: try await kind.newDatabaseURL().map { try MongoURL($0) }))
    }
}

/// Runs a test with an empty store of its own.
func withMessageStore<Result>(
    _ kind: StoreKind, isolation: isolated (any Actor)? = #isolation, _ body: (any MessageStore) async throws -> Result
) async throws -> Result {
    try await withMessagePlace(kind) { place in
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
