import Schemas
import Store
import TestSupport

@testable import Cube

/// Stores a cube in the folder of a cube service that does not run, whatever its size is.
func storeCube(_ channels: [Channel], version: CubeVersion, in folder: String) async throws {
    let store = try await CubeStore(
        at: StoragePlace(database: nil, folder: folder), sizeLimit: CubeSizeLimit(bytes: .max), logger: quietLogger)
    try await perform {
        try await store.storage.transaction { transaction in
            for (index, channel) in channels.enumerated() {
                try transaction.insert(
                    StoredChannel(channel, version: version, position: Int64(index)), into: CubeCollections.channels)
            }
            let state = CubeState(id: CubeState.id, version: version, measure: try transaction.measureCube())
            try transaction.overwrite(with: state, in: CubeCollections.state)
        }
    } finally: {
        try await store.close()
    }
}
